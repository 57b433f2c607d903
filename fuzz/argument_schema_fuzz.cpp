// A schema from a stranger, a line feed, and arguments: no schema crashes us, hangs us or gives two verdicts.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/utf8.h"
#include "tool/argument_schema.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using callgate::tool::ArgumentSchema;
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const std::size_t cut = all.find('\n');
  const auto schema = ArgumentSchema::compile(all.substr(0, cut));
  if (!schema) {
    CALLGATE_CHECK(!schema.error().message.empty());
    return 0;
  }
  const std::string_view arguments = cut == all.npos ? std::string_view() : all.substr(cut + 1);
  const auto once = schema->check(arguments);
  const auto twice = schema->check(arguments);
  CALLGATE_CHECK(once.has_value() == twice.has_value());
  if (!once) CALLGATE_CHECK(!once.error().message.empty());
  return 0;
}
