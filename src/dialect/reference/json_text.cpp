#include "dialect/reference/json_text.h"

#include <cstdio>

#include "base/utf8.h"
#include "dialect/reference/turn.h"

namespace callgate::dialect::reference {
namespace {

using State = JsonEnd::State;
constexpr int kMaxDepth = 128;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) {
  return std::string_view("0123456789abcdefABCDEF").find(c) != std::string_view::npos;
}

std::size_t skip_digits(std::string_view text, std::size_t at) {
  while (at < text.size() && is_digit(text[at])) ++at;
  return at;
}

// A number or word is cut where the text ends: more could follow.
JsonEnd skip_number(std::string_view text, std::size_t at) {
  const auto digits = [&] {
    const std::size_t from = at;
    at = skip_digits(text, at);
    return at > from;
  };
  const auto odd = [&] { return JsonEnd{at == text.size() ? State::cut : State::broken, at}; };
  if (text[at] == '-') ++at;
  if (at < text.size() && text[at] == '0') {
    ++at;
  } else if (!digits()) {
    return odd();
  }
  if (at < text.size() && text[at] == '.') {
    ++at;
    if (!digits()) return odd();
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    if (!digits()) return odd();
  }
  return {at == text.size() ? State::cut : State::whole, at};
}

JsonEnd skip_word(std::string_view text, std::size_t at, std::string_view word) {
  for (const char c : word) {
    if (at == text.size()) return {State::cut, at};
    if (text[at] != c) return {State::broken, at};
    ++at;
  }
  return {at == text.size() ? State::cut : State::whole, at};
}

JsonEnd skip_value(std::string_view text, std::size_t at, int depth);

JsonEnd skip_list(std::string_view text, std::size_t at, int depth) {
  const bool object = text[at] == '{';
  const char close = object ? '}' : ']';
  if (depth == kMaxDepth) return {State::broken, at};
  ++at;
  for (bool first = true;; first = false) {
    at = skip_space(text, at);
    if (at == text.size()) return {State::cut, at};
    if (text[at] == close && first) return {State::whole, at + 1};
    if (object) {
      if (text[at] != '"') return {State::broken, at};
      const JsonEnd key = skip_json_string(text, at);
      if (key.state != State::whole) return key;
      at = skip_space(text, key.end);
      if (at == text.size()) return {State::cut, at};
      if (text[at++] != ':') return {State::broken, at - 1};
      at = skip_space(text, at);
    }
    const JsonEnd value = skip_value(text, at, depth + 1);
    if (value.state != State::whole) return value;
    at = skip_space(text, value.end);
    if (at == text.size()) return {State::cut, at};
    if (text[at] == close) return {State::whole, at + 1};
    if (text[at++] != ',') return {State::broken, at - 1};
  }
}

JsonEnd skip_value(std::string_view text, std::size_t at, int depth) {
  if (at == text.size()) return {State::cut, at};
  const char c = text[at];
  if (c == '{' || c == '[') return skip_list(text, at, depth);
  if (c == '"') return skip_json_string(text, at);
  if (c == '-' || is_digit(c)) return skip_number(text, at);
  if (c == 't') return skip_word(text, at, "true");
  if (c == 'f') return skip_word(text, at, "false");
  if (c == 'n') return skip_word(text, at, "null");
  return {State::broken, at};
}

unsigned hex_value(std::string_view digits) {
  return static_cast<unsigned>(std::stoul(std::string(digits), nullptr, 16));
}

}  // namespace

JsonEnd skip_json(std::string_view text, std::size_t at) { return skip_value(text, at, 0); }

JsonEnd skip_json_string(std::string_view text, std::size_t at) {
  ++at;
  while (at < text.size()) {
    const char c = text[at++];
    if (c == '"') return {State::whole, at};
    if (c != '\\') continue;
    if (at == text.size()) break;
    if (std::string_view("\"\\/bfnrtu").find(text[at]) == std::string_view::npos) {
      return {State::broken, at};
    }
    if (text[at++] != 'u') continue;
    for (int i = 0; i < 4; ++i, ++at) {
      if (at == text.size()) return {State::cut, at};
      if (!is_hex(text[at])) return {State::broken, at};
    }
  }
  return {State::cut, text.size()};
}

std::string json_string_text(std::string_view raw) {
  constexpr std::string_view kLetters = "bfnrt";
  constexpr std::string_view kMeanings = "\b\f\n\r\t";
  std::string text;
  for (std::size_t at = 1; at + 1 < raw.size(); ++at) {
    if (raw[at] != '\\') {
      text += raw[at];
      continue;
    }
    const char c = raw[++at];
    if (c != 'u') {
      const std::size_t letter = kLetters.find(c);
      text += letter == std::string_view::npos ? c : kMeanings[letter];
      continue;
    }
    unsigned code = hex_value(raw.substr(at + 1, 4));
    at += 4;
    const bool high = code >= 0xD800 && code < 0xDC00;
    if (high && raw.substr(at + 1, 2) == "\\u") {
      const unsigned low = hex_value(raw.substr(at + 3, 4));
      if (low >= 0xDC00 && low < 0xE000) {
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
        at += 6;
      }
    }
    if (code >= 0xD800 && code < 0xE000) code = 0xFFFD;
    utf8::append_code_point(text, code);
  }
  return text;
}

namespace {

void append_control(std::string& out, char c) {
  constexpr std::string_view kControls = "\b\f\n\r\t";
  constexpr std::string_view kLetters = "bfnrt";
  if (const std::size_t known = kControls.find(c); known != std::string_view::npos) {
    out += '\\';
    out += kLetters[known];
    return;
  }
  char buffer[8];
  std::snprintf(buffer, sizeof buffer, "\\u%04x", static_cast<unsigned>(c));
  out += buffer;
}

}  // namespace

std::string escaped_json(std::string_view raw) {
  std::string out;
  bool in_string = false;
  for (std::size_t at = 0; at < raw.size(); ++at) {
    const char c = raw[at];
    if (c == '"') in_string = !in_string;
    if (in_string && static_cast<unsigned char>(c) < 0x20) {
      append_control(out, c);
      continue;
    }
    out += c;
    if (in_string && c == '\\' && at + 1 < raw.size()) out += raw[++at];
  }
  return out;
}

std::string json_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      append_control(out, c);
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace callgate::dialect::reference
