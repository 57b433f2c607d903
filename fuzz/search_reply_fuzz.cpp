// Any reply of a search API: the results are valid UTF-8 when the reply is, bounded, and at most as many as asked for.
#include <cstdlib>

#include "base/utf8.h"
#include "tool/search_tool.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t most = 1 + data[0] % 3;
  constexpr const char* kPaths[] = {"results", "", "a.b"};
  const auto found = callgate::tool::read_search_reply(text, {.list = kPaths[data[0] % 3]}, most);
  if (!found) return 0;
  const std::size_t largest = most * (300 + 2000 + 1000 + 40);
  if (found->size() > largest) std::abort();
  if (callgate::utf8::is_valid(text) && !callgate::utf8::is_valid(*found)) std::abort();
  return 0;
}
