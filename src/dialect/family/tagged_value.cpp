#include "dialect/family/tagged_value.h"

#include <algorithm>

#include "base/text.h"
#include "base/utf8.h"
#include "dialect/family/python_literal.h"
#include "json/scanner.h"
#include "json/writer.h"

namespace callgate::dialect {
namespace {

std::size_t digits_from(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && is_digit(text[end])) ++end;
  return end - at;
}

// The parts of a JSON number.
struct NumberParts {
  bool valid = false;
  std::string_view fraction;  // digits after the point
  std::string_view exponent;  // with its sign
};

NumberParts number_parts(std::string_view text) {
  NumberParts parts;
  std::size_t at = !text.empty() && text[0] == '-' ? 1 : 0;
  const std::size_t whole = digits_from(text, at);
  if (whole == 0 || (whole > 1 && text[at] == '0')) return parts;
  at += whole;
  if (at < text.size() && text[at] == '.') {
    parts.fraction = text.substr(at + 1, digits_from(text, at + 1));
    if (parts.fraction.empty()) return parts;
    at += 1 + parts.fraction.size();
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    const std::size_t begin = ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    const std::size_t digits = digits_from(text, at);
    if (digits == 0) return parts;
    at += digits;
    parts.exponent = text.substr(begin, at - begin);
  }
  parts.valid = at == text.size();
  return parts;
}

// 5, 5.0 and 5e3 are integers, 5.5 and 5e-3 are not.
bool is_integral(const NumberParts& parts) {
  if (!parts.valid) return false;
  if (parts.exponent.empty()) return parts.fraction.find_first_not_of('0') == std::string::npos;
  return parts.fraction.empty() && parts.exponent[0] != '-';
}

bool equals_ignoring_case(std::string_view text, std::string_view lower) {
  return std::equal(text.begin(), text.end(), lower.begin(), lower.end(), [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
  });
}

bool append_null(std::string& out, std::string_view text) {
  if (!equals_ignoring_case(text, "null") && !equals_ignoring_case(text, "none")) return false;
  out += "null";
  return true;
}

bool append_boolean(std::string& out, std::string_view text) {
  const bool truth = equals_ignoring_case(text, "true");
  if (!truth && !equals_ignoring_case(text, "false")) return false;
  out += truth ? "true" : "false";
  return true;
}

bool append_number(std::string& out, std::string_view text, KindSet kinds) {
  const NumberParts parts = number_parts(text);
  const bool fits = (kinds.has(ValueKind::number) && parts.valid) ||
                    (kinds.has(ValueKind::integer) && is_integral(parts));
  if (fits) out += text;
  return fits;
}

bool append_container(std::string& out, std::string_view text, KindSet kinds) {
  if (text.empty() || std::string_view("{[(").find(text[0]) == std::string_view::npos) return false;
  const auto fits = [&](char bracket) {
    return (kinds.has(ValueKind::object) && bracket == '{') ||
           (kinds.has(ValueKind::array) && bracket == '[');
  };
  if (is_whole_json(text)) {
    if (fits(text[0])) append_clean_json(out, text);
    return fits(text[0]);
  }
  std::string literal;
  if (!append_python_literal(literal, text) || !fits(literal[0])) return false;
  out += literal;
  return true;
}

constexpr KindSet kEveryKind = {ValueKind::null,    ValueKind::integer, ValueKind::number,
                                ValueKind::boolean, ValueKind::object,  ValueKind::array};

}  // namespace

bool is_json_number(std::string_view text) { return number_parts(text).valid; }

bool is_whole_json(std::string_view text) {
  json::Scanner scanner;
  const std::size_t used = scanner.push(text);
  return scanner.finish() && trimmed(text.substr(used)).empty();
}

void append_clean_json(std::string& out, std::string_view json) {
  bool in_string = false;
  std::size_t clean = 0;
  const auto flush = [&](std::size_t end) {
    utf8::append_sanitized(out, json.substr(clean, end - clean));
  };
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (!in_string) {
      in_string = c == '"';
    } else if (c == '"') {
      in_string = false;
    } else if (c == '\\') {
      ++i;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      flush(i);
      json::append_escaped(out, json.substr(i, 1));
      clean = i + 1;
    }
  }
  flush(json.size());
}

void append_typed(std::string& out, std::string_view text, KindSet kinds) {
  const std::string_view core = trimmed(text);
  if (kinds.has(ValueKind::null) && append_null(out, core)) return;
  if (append_number(out, core, kinds)) return;
  if (kinds.has(ValueKind::boolean) && append_boolean(out, core)) return;
  if (append_container(out, core, kinds)) return;
  json::append_string(out, text);
}

void TaggedValue::begin(KindSet kinds, std::size_t limit, std::string& out) {
  kinds_ = kinds;
  limit_ = limit;
  held_.clear();
  if (!kinds.empty() && !kinds.has(ValueKind::string)) {
    mode_ = Mode::typed;
  } else if (kinds.has(ValueKind::null)) {
    mode_ = Mode::string_or_null;
  } else {
    mode_ = Mode::string;
    out.push_back('"');
  }
}

void TaggedValue::begin_json(std::size_t limit, std::string& /*out*/) {
  kinds_ = kEveryKind;
  limit_ = limit;
  held_.clear();
  mode_ = Mode::json;
}

void TaggedValue::push(std::string_view bytes, std::string& out) {
  switch (mode_) {
    case Mode::string:
      push_string(bytes, out);
      break;
    case Mode::raw:
      push_raw(bytes, out);
      break;
    case Mode::string_or_null:
    case Mode::typed:
    case Mode::json:
      push_held(bytes, out);
      break;
  }
}

void TaggedValue::push_string(std::string_view bytes, std::string& out) {
  if (bytes.empty()) return;
  if (held_.empty() && static_cast<signed char>(bytes.back()) >= 0) {
    json::append_escaped(out, bytes);
    return;
  }
  held_ += bytes;
  const std::size_t whole = held_.size() - utf8::incomplete_tail(held_);
  json::append_escaped(out, std::string_view(held_).substr(0, whole));
  held_.erase(0, whole);
}

void TaggedValue::push_raw(std::string_view bytes, std::string& out) {
  const std::size_t used = scanner_.push(bytes);
  if (!trimmed(bytes.substr(used)).empty()) raw_is_json_ = false;
  held_ += bytes;
  const std::size_t whole = held_.size() - utf8::incomplete_tail(held_);
  utf8::append_sanitized(out, std::string_view(held_).substr(0, whole));
  held_.erase(0, whole);
}

void TaggedValue::push_held(std::string_view bytes, std::string& out) {
  if (mode_ == Mode::string_or_null) {
    held_ += bytes;
    if (!std::string_view("null").starts_with(held_)) become_string(out);
    return;
  }
  // The decision at the limit looks at the same bytes however they were cut.
  const std::size_t taken = std::min(bytes.size(), limit_ + 1 - held_.size());
  held_ += bytes.substr(0, taken);
  if (held_.size() <= limit_) return;
  const std::string_view core = trimmed(held_);
  const bool container = !core.empty() && ((core[0] == '{' && kinds_.has(ValueKind::object)) ||
                                           (core[0] == '[' && kinds_.has(ValueKind::array)));
  if (container) {
    std::string text;
    text.swap(held_);
    mode_ = Mode::raw;
    scanner_.reset();
    raw_is_json_ = true;
    push_raw(text, out);
  } else {
    become_string(out);
  }
  push(bytes.substr(taken), out);
}

void TaggedValue::become_string(std::string& out) {
  std::string text;
  text.swap(held_);
  mode_ = Mode::string;
  out.push_back('"');
  push_string(text, out);
}

bool TaggedValue::end(std::string& out) {
  bool whole = true;
  switch (mode_) {
    case Mode::string:
      json::append_escaped(out, held_);
      out.push_back('"');
      break;
    case Mode::string_or_null:
      if (held_ == "null") {
        out += held_;
      } else {
        json::append_string(out, held_);
      }
      break;
    case Mode::typed:
      append_typed(out, held_, kinds_);
      break;
    case Mode::json:
      if (trimmed(held_).starts_with('"') && is_whole_json(held_)) {
        append_clean_json(out, trimmed(held_));
      } else {
        append_typed(out, held_, kinds_);
      }
      break;
    case Mode::raw:
      utf8::append_sanitized(out, held_);
      whole = raw_is_json_ && scanner_.finish() && !scanner_.saw_raw_control();
      break;
  }
  held_.clear();
  return whole;
}

void TaggedValue::cut(std::string& out) {
  switch (mode_) {
    case Mode::string:
      json::append_escaped(out, held_);
      break;
    case Mode::string_or_null:
      out.push_back('"');
      json::append_escaped(out, held_);
      break;
    case Mode::typed:
    case Mode::json:
      append_clean_json(out, held_);
      break;
    case Mode::raw:
      utf8::append_sanitized(out, held_);
      break;
  }
  held_.clear();
}

}  // namespace callgate::dialect
