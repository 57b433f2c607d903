#include "json/escape.h"

#include "base/utf8.h"
#include "json/string_run.h"

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

enum class Halves { replaced, kept };

// `at` is after a \u. Returns the position after the escape, or after the pair.
std::size_t append_unit(std::string& out, std::string_view escaped, std::size_t at, Halves halves) {
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
  utf8::append_code_point(out, half && halves == Halves::replaced ? 0xFFFD : unit);
  return at;
}

void append_text(std::string& out, std::string_view escaped, Halves halves) {
  std::size_t at = 0;
  while (true) {
    const std::size_t slash = escaped.find('\\', at);
    if (slash == std::string_view::npos) break;
    out.append(escaped, at, slash - at);
    const char letter = escaped[slash + 1];
    at = slash + 2;
    if (letter == 'u') {
      at = append_unit(out, escaped, at, halves);
    } else {
      out.push_back(short_escape(letter));
    }
  }
  out.append(escaped, at);
}

}  // namespace

void append_unescaped(std::string& out, std::string_view escaped) {
  append_text(out, escaped, Halves::replaced);
}

void append_unescaped_halves(std::string& out, std::string_view escaped) {
  append_text(out, escaped, Halves::kept);
}

void append_control(std::string& out, char control) {
  constexpr std::string_view kLetters = "btn?fr";  // from 8 on
  constexpr std::string_view kDigits = "0123456789abcdef";
  const auto value = static_cast<unsigned char>(control);
  const bool has_letter = value >= 8 && value <= 13 && value != 11;
  if (has_letter) {
    out.push_back('\\');
    out.push_back(kLetters[value - 8U]);
    return;
  }
  out.append("\\u00");
  out.push_back(kDigits[value >> 4]);
  out.push_back(kDigits[value & 15]);
}

std::size_t append_escaping_controls(std::string& out, std::string_view json) {
  std::size_t found = 0;
  bool in_string = false;
  const char* at = json.data();
  const char* const end = at + json.size();
  while (at != end) {
    const char* const run = string_run(at, end).end;
    out.append(at, static_cast<std::size_t>(run - at));
    if (run == end) break;
    at = run + 1;
    if (*run == '"') {
      in_string = !in_string;
      out.push_back(*run);
    } else if (*run == '\\') {
      out.push_back(*run);
      if (in_string && at != end && static_cast<unsigned char>(*at) >= 0x20) out.push_back(*at++);
    } else if (in_string) {
      append_control(out, *run);
      ++found;
    } else {
      out.push_back(*run);
    }
  }
  return found;
}

}  // namespace callgate::json
