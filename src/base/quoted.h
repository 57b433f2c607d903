// Foreign words inside messages, cut to a length that nobody minds.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace callgate {

inline constexpr std::size_t kLongestQuote = 80;

// At most `limit` bytes of it, whole characters, and three dots where something is missing.
inline std::string shortened(std::string_view text, std::size_t limit = kLongestQuote) {
  if (text.size() <= limit) return std::string(text);
  std::size_t end = limit;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "...";
}

// The same in quotation marks.
inline std::string in_quotes(std::string_view text, std::size_t limit = kLongestQuote) {
  return '"' + shortened(text, limit) + '"';
}

}  // namespace callgate
