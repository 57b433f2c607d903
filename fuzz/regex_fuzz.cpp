// A pattern and a text of strangers, split at the first zero byte: bounded time, the same verdict each time, and what follows from the meaning
// of a pattern holds: alternatives only add.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/regex.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using callgate::Regex;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t cut = std::min(input.find('\0'), input.size());
  const std::string pattern(input.substr(0, cut));
  const std::string_view text = cut < input.size() ? input.substr(cut + 1) : std::string_view();
  const auto regex = Regex::compile(pattern);
  if (!regex) return 0;
  const Regex::Verdict verdict = regex->matches(text);
  CALLGATE_CHECK(regex->matches(text) == verdict);
  const auto wider = Regex::compile("(?:" + pattern + ")|x");
  if (!wider || verdict == Regex::Verdict::undecided) return 0;
  const Regex::Verdict again = wider->matches(text);
  if (again == Regex::Verdict::undecided) return 0;
  CALLGATE_CHECK(text == "x" || again == verdict);
  return 0;
}
