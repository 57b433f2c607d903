// The escapes of a JSON string: \" \\ \/ \b \f \n \r \t \u00e9 \uD83D\uDE00
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace callgate::json {

// The digit's value, or -1.
inline int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

inline bool is_short_escape(char c) {
  return c == '"' || c == '\\' || c == '/' || c == 'b' || c == 'f' || c == 'n' || c == 'r' ||
         c == 't';
}

inline bool is_high_surrogate(unsigned unit) { return unit >= 0xD800 && unit <= 0xDBFF; }
inline bool is_low_surrogate(unsigned unit) { return unit >= 0xDC00 && unit <= 0xDFFF; }

// The text that `escaped` stands for. Half a surrogate pair becomes U+FFFD.
// REQUIRES: every escape in `escaped` is whole and valid.
void append_unescaped(std::string& out, std::string_view escaped);
// The same, but half a surrogate pair stays one, for a SurrogateJoiner: \uD83D is ED A0 BD, which is not UTF-8.
void append_unescaped_halves(std::string& out, std::string_view escaped);

// `json` with an escape for each control character that stands in a string as it is. Returns how many there were. Total: what
// is not JSON is copied.
std::size_t append_escaping_controls(std::string& out, std::string_view json);

// The escape of a control character: \t, \u001f
void append_control(std::string& out, char control);

}  // namespace callgate::json
