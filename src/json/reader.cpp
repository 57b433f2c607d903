#include "json/reader.h"

#include <cstring>

#include "base/utf8.h"
#include "json/escape.h"
#include "json/integer.h"
#include "json/string_run.h"

namespace callgate::json {
namespace {

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

inline void Reader::skip_space() {
  while (at_ != end_ && is_space(*at_)) ++at_;
}

// True: a value is due and *at_ is its first byte.
inline bool Reader::begin_value() {
  skip_space();
  if (!expecting_ || at_ == end_)
    return fault(expecting_ ? "expected a value" : "expected no value");
  expecting_ = false;
  return true;
}

Reader::Reader(std::string_view text) { reset(text); }

void Reader::reset(std::string_view text) {
  begin_ = at_ = text.data();
  end_ = at_ + text.size();
  expecting_ = true;
  failed_ = false;
  nesting_.clear();
  error_ = {};
}

Kind Reader::peek() {
  skip_space();
  if (at_ == end_ || !expecting_) return Kind::invalid;
  switch (*at_) {
    case '{':
      return Kind::object;
    case '[':
      return Kind::array;
    case '"':
      return Kind::string;
    case 't':
    case 'f':
      return Kind::boolean;
    case 'n':
      return Kind::null;
    default:
      return *at_ == '-' || is_digit(*at_) ? Kind::number : Kind::invalid;
  }
}

bool Reader::next_member(std::string_view& key) {
  if (!to_name()) return false;
  key = take_string();
  return to_member_value();
}

bool Reader::next_element() {
  skip_space();
  if (expecting_) {
    if (at_ == end_ || *at_ != '[') return fault("expected an array");
    if (!open(false)) return false;
    if (at_ != end_ && *at_ == ']') return close();
    return expecting_ = true;
  }
  if (!nesting_.in_array()) return fault("expected to be inside an array");
  if (at_ == end_) return fault("expected ',' or ']'");
  if (*at_ == ']') return close();
  if (*at_ != ',') return fault("expected ',' or ']'");
  ++at_;
  return expecting_ = true;
}

std::string_view Reader::string() {
  if (!begin_value()) return {};
  if (*at_ != '"') return fault("expected a string"), std::string_view();
  return take_string();
}

std::string_view Reader::number() {
  if (!begin_value()) return {};
  const char* const start = at_;
  if (!scan_number()) return {};
  return {start, static_cast<std::size_t>(at_ - start)};
}

std::optional<std::int64_t> Reader::integer() {
  const std::string_view text = number();
  if (text.empty()) return std::nullopt;
  return to_integer(text);
}

bool Reader::boolean() {
  if (!begin_value()) return false;
  if (*at_ == 't') return scan_word("true");
  if (*at_ == 'f') return scan_word("false"), false;
  return fault("expected true or false");
}

void Reader::null() {
  if (begin_value()) scan_word("null");
}

void Reader::skip() {
  const std::size_t floor = nesting_.depth();
  do {
    const Kind kind = peek();
    if (kind == Kind::object || (!expecting_ && nesting_.in_object())) {
      skip_name();
    } else if (kind == Kind::array || (!expecting_ && nesting_.in_array())) {
      next_element();
    } else {
      skip_scalar(kind);
    }
  } while (expecting_ || nesting_.depth() > floor);
}

std::string_view Reader::raw() {
  skip_space();
  const char* const start = at_;
  skip();
  return failed_ ? std::string_view()
                 : std::string_view(start, static_cast<std::size_t>(at_ - start));
}

bool Reader::finish() {
  skip_space();
  if (failed_) return false;
  if (expecting_) return fault("expected a value");
  if (nesting_.in_object()) return fault("expected ',' or '}'");
  if (nesting_.in_array()) return fault("expected ',' or ']'");
  return at_ == end_ || fault("expected the end of the text");
}

void Reader::fail(std::string_view message) { fault(message); }

bool Reader::fault(std::string_view message) {
  if (!failed_) error_ = {offset(), message};
  failed_ = true;
  end_ = at_;
  expecting_ = false;
  nesting_.clear();
  return false;
}

bool Reader::open(bool object) {
  if (!nesting_.open(object)) return fault("nested too deeply");
  ++at_;
  expecting_ = false;
  skip_space();
  return true;
}

bool Reader::close() {
  nesting_.close();
  ++at_;
  return false;
}

// Enters an object or goes on in it. True: at_ is at the opening quote of a member's name.
bool Reader::to_name() {
  skip_space();
  if (expecting_) {
    if (at_ == end_ || *at_ != '{') return fault("expected an object");
    if (!open(true)) return false;
    if (at_ != end_ && *at_ == '}') return close();
  } else {
    if (!nesting_.in_object()) return fault("expected to be inside an object");
    if (at_ != end_ && *at_ == '}') return close();
    if (at_ == end_ || *at_ != ',') return fault("expected ',' or '}'");
    ++at_;
    skip_space();
  }
  if (at_ == end_ || *at_ != '"') return fault("expected a member name");
  return true;
}

bool Reader::to_member_value() {
  skip_space();
  if (at_ == end_ || *at_ != ':') return fault("expected ':'");
  ++at_;
  return expecting_ = true;
}

void Reader::skip_name() {
  bool escaped = false;
  if (to_name() && scan_string(escaped)) to_member_value();
}

void Reader::skip_scalar(Kind kind) {
  if (!begin_value()) return;
  bool escaped = false;
  switch (kind) {
    case Kind::string:
      scan_string(escaped);
      break;
    case Kind::number:
      scan_number();
      break;
    case Kind::boolean:
      scan_word(*at_ == 't' ? "true" : "false");
      break;
    case Kind::null:
      scan_word("null");
      break;
    case Kind::object:
    case Kind::array:
    case Kind::invalid:
      fault("expected a value");
  }
}

// From the opening quote to behind the closing one. `escaped` is set when there are escapes.
bool Reader::scan_string(bool& escaped) {
  ++at_;
  while (true) {
    const StringRun run = string_run(at_, end_);
    if (!run.ascii) {
      const std::size_t bad = utf8::find_invalid({at_, static_cast<std::size_t>(run.end - at_)});
      if (bad != std::string_view::npos) {
        at_ += bad;
        return fault("expected valid UTF-8");
      }
    }
    at_ = run.end;
    if (at_ == end_) return fault("expected the string to end");
    if (*at_ == '"') return ++at_, true;
    if (*at_ != '\\') return fault("expected control characters to be escaped");
    escaped = true;
    if (!scan_escape()) return false;
  }
}

bool Reader::scan_escape() {
  ++at_;
  if (at_ == end_) return fault("expected the string to end");
  if (*at_ != 'u') {
    if (!is_short_escape(*at_)) return fault("expected one of \"\\/bfnrtu after a backslash");
    ++at_;
    return true;
  }
  ++at_;
  for (int i = 0; i < 4; ++i, ++at_) {
    if (at_ == end_ || hex_digit(*at_) < 0) return fault("expected four hex digits after \\u");
  }
  return true;
}

std::string_view Reader::take_string() {
  const char* const start = at_ + 1;
  bool escaped = false;
  if (!scan_string(escaped)) return {};
  const std::string_view text(start, static_cast<std::size_t>(at_ - 1 - start));
  if (!escaped) return text;
  scratch_.clear();
  append_unescaped(scratch_, text);
  return scratch_;
}

bool Reader::scan_number() {
  if (*at_ == '-') ++at_;
  if (at_ == end_ || !is_digit(*at_)) return fault("expected a number");
  if (*at_ == '0') {
    ++at_;
  } else {
    scan_digits();
  }
  if (at_ != end_ && *at_ == '.') {
    ++at_;
    if (!scan_digits()) return false;
  }
  if (at_ != end_ && (*at_ == 'e' || *at_ == 'E')) {
    ++at_;
    if (at_ != end_ && (*at_ == '+' || *at_ == '-')) ++at_;
    return scan_digits();
  }
  return true;
}

bool Reader::scan_digits() {
  if (at_ == end_ || !is_digit(*at_)) return fault("expected a digit");
  while (at_ != end_ && is_digit(*at_)) ++at_;
  return true;
}

bool Reader::scan_word(std::string_view word) {
  const auto left = static_cast<std::size_t>(end_ - at_);
  if (left < word.size() || std::memcmp(at_, word.data(), word.size()) != 0) {
    return fault("expected true, false or null");
  }
  at_ += word.size();
  return true;
}

}  // namespace callgate::json
