#include "json/escape.h"

#include "base/utf8.h"

namespace callgate::json {
namespace {

unsigned hex_unit(const char* digits) {
  unsigned unit = 0;
  for (int i = 0; i < 4; ++i) unit = unit << 4 | static_cast<unsigned>(hex_digit(digits[i]));
  return unit;
}

char short_escape(char letter) {
  switch (letter) {
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return letter;
  }
}

// `at` is behind a \u. Returns what is behind the escape, or behind the pair.
std::size_t append_unit(std::string& out, std::string_view escaped, std::size_t at) {
  const unsigned unit = hex_unit(escaped.data() + at);
  at += 4;
  if (is_high_surrogate(unit) && escaped.substr(at, 2) == "\\u") {
    const unsigned low = hex_unit(escaped.data() + at + 2);
    if (is_low_surrogate(low)) {
      utf8::append_code_point(out, 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00));
      return at + 6;
    }
  }
  const bool half = is_high_surrogate(unit) || is_low_surrogate(unit);
  utf8::append_code_point(out, half ? 0xFFFD : unit);
  return at;
}

}  // namespace

void append_unescaped(std::string& out, std::string_view escaped) {
  std::size_t at = 0;
  while (true) {
    const std::size_t slash = escaped.find('\\', at);
    if (slash == std::string_view::npos) break;
    out.append(escaped, at, slash - at);
    const char letter = escaped[slash + 1];
    at = slash + 2;
    if (letter == 'u') {
      at = append_unit(out, escaped, at);
    } else {
      out.push_back(short_escape(letter));
    }
  }
  out.append(escaped, at);
}

}  // namespace callgate::json
