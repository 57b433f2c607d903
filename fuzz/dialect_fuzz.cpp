// Any bytes through any dialect: the oracle of the property tests holds. The first bytes choose the dialect, the options
// and the cuts, the rest is model text.
#include <cstdio>
#include <cstdlib>

#include "dialect/oracle_testing.h"

namespace {

using callgate::ToolSpec;

const std::vector<ToolSpec>& tools() {
  static const std::vector<ToolSpec> declared = {
      {.name = "run",
       .parameters = {R"({"type":"object","properties":{"a":{"type":"integer"},)"
                      R"("s":{"type":"string"},"o":{"type":"object"}}})"}},
      {.name = "get_weather",
       .parameters = {R"({"type":"object","properties":{"city":{"type":"string"}}})"}}};
  return declared;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kHead = 4;
  if (size < kHead) return 0;
  const auto dialects = callgate::dialect::all();
  const callgate::Dialect& dialect = *dialects[data[0] % dialects.size()];
  const unsigned flags = data[1];
  const callgate::DialectOptions options{
      .tools = tools(),
      .start = (flags & 1) != 0 ? callgate::Channel::reasoning : callgate::Channel::text,
      .commit = (flags & 2) != 0 ? callgate::Commit::whole_call : callgate::Commit::eager,
      .max_held_back = (flags & 4) != 0 ? 1u + data[2] : std::size_t{1} << 20};
  const auto channel = (flags & 8) != 0 ? callgate::Channel::reasoning : callgate::Channel::text;
  const std::string_view text(reinterpret_cast<const char*>(data) + kHead, size - kHead);
  const std::string fault =
      callgate::dialect::oracle::check(dialect, options, channel, text, data[3]);
  if (!fault.empty()) {
    std::fprintf(stderr, "%s: %s\n", std::string(dialect.name).c_str(), fault.c_str());
    std::abort();
  }
  return 0;
}
