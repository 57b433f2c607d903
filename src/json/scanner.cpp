#include "json/scanner.h"

#include <cstring>

#include "base/text.h"
#include "base/utf8.h"
#include "json/escape.h"
#include "json/string_run.h"

namespace callgate::json {
inline void Scanner::remember(const char* end, std::size_t size) {
  if (size >= sizeof recent_) {
    std::memcpy(&recent_, end - sizeof recent_, sizeof recent_);
    return;
  }
  for (; size > 0; --size) {
    recent_ = recent_ >> 8 | std::uint32_t{static_cast<std::uint8_t>(*(end - size))} << 24;
  }
}

// Most pushes are a few plain bytes of a string.
std::size_t Scanner::push(std::string_view bytes) {
  if (place_ != Place::string || bytes.empty()) return push_any(bytes);
  const char* const end = bytes.data() + bytes.size();
  if (string_run(bytes.data(), end).end != end) return push_any(bytes);
  after_high_ = false;
  remember(end, bytes.size());
  return bytes.size();
}

std::size_t Scanner::push_any(std::string_view bytes) {
  if (place_ == Place::closed || place_ == Place::failed) return 0;
  const char* const begin = bytes.data();
  const char* const end = begin + bytes.size();
  const char* at = begin;
  while (at != end) {
    if (place_ == Place::string) {
      at = scan_string(at, end);
    } else if (step(*at)) {
      ++at;
    }
    if (place_ == Place::closed || place_ == Place::failed) break;
  }
  const auto size = static_cast<std::size_t>(at - begin);
  remember(at, size);
  return size;
}

bool Scanner::finish() {
  if (nesting_.depth() == 0 && scalar_complete()) place_ = Place::closed;
  return place_ == Place::closed;
}

void Scanner::reset() { *this = Scanner(); }

Scanner::State Scanner::state() const {
  if (place_ == Place::before) return State::before;
  if (place_ == Place::closed) return State::closed;
  if (place_ == Place::failed) return State::failed;
  return State::inside;
}

std::size_t Scanner::unsafe_tail_in_string() const {
  const std::size_t high = after_high_ ? 6 : 0;
  if (place_ == Place::escape) return 1 + high;
  if (place_ == Place::hex) return 2 + hex_digits_ + high;
  if (high != 0) return high;
  char bytes[sizeof recent_];
  std::memcpy(bytes, &recent_, sizeof recent_);
  return utf8::incomplete_tail({bytes, sizeof bytes});
}

bool Scanner::append_closing(std::string& out) const {
  switch (place_) {
    case Place::closed:
      return true;
    case Place::element_or_end:
    case Place::name_or_end:
    case Place::comma_or_end:
      break;
    case Place::string:
    case Place::escape:
    case Place::hex:
      if (is_name_) return false;
      out.push_back('"');
      break;
    case Place::word:
      out.append(word_rest_);
      break;
    case Place::before:
    case Place::failed:
    case Place::value:
    case Place::name:
    case Place::colon:
    case Place::minus:
    case Place::zero:
    case Place::integer:
    case Place::point:
    case Place::fraction:
    case Place::exponent_mark:
    case Place::exponent_sign:
    case Place::exponent:
      return false;
  }
  for (Nesting open = nesting_; open.depth() > 0; open.close()) {
    out.push_back(open.in_object() ? '}' : ']');
  }
  return true;
}

// REQUIRES: at != end. Returns the position after the last byte that it took.
const char* Scanner::scan_string(const char* at, const char* end) {
  while (at != end) {
    const StringRun run = string_run(at, end);
    if (run.end != at) after_high_ = false;
    if (run.end == end) return end;
    at = run.end + 1;
    if (*run.end == '\\') {
      place_ = Place::escape;
      return at;
    }
    after_high_ = false;
    if (*run.end == '"') {
      if (is_name_) {
        place_ = Place::colon;
      } else {
        end_value();
      }
      return at;
    }
    saw_raw_control_ = true;
  }
  return at;
}

// True: `c` is taken. False: it ended the value before it and is looked at again, or the value closed or failed.
bool Scanner::step(char c) {
  switch (place_) {
    case Place::before:
    case Place::value:
      return is_space(c) || step_value(c);
    case Place::element_or_end:
      if (c == ']') return close();
      return is_space(c) || step_value(c);
    case Place::name_or_end:
      if (c == '}') return close();
      [[fallthrough]];
    case Place::name:
      if (is_space(c)) return true;
      is_name_ = true;
      return c == '"' ? go(Place::string) : fail();
    case Place::colon:
      if (is_space(c)) return true;
      return c == ':' ? go(Place::value) : fail();
    case Place::comma_or_end:
      if (is_space(c)) return true;
      if (c == ',') return go(nesting_.in_object() ? Place::name : Place::value);
      return c == (nesting_.in_object() ? '}' : ']') ? close() : fail();
    case Place::escape:
      return step_escape(c);
    case Place::hex:
      return step_hex(c);
    case Place::word:
      return step_word(c);
    case Place::minus:
    case Place::zero:
    case Place::integer:
    case Place::point:
    case Place::fraction:
    case Place::exponent_mark:
    case Place::exponent_sign:
    case Place::exponent:
      return step_number(c);
    case Place::string:
    case Place::closed:
    case Place::failed:
      break;
  }
  return false;
}

bool Scanner::step_value(char c) {
  is_name_ = false;
  switch (c) {
    case '{':
      return open(true);
    case '[':
      return open(false);
    case '"':
      return go(Place::string);
    case 't':
      word_rest_ = "rue";
      return go(Place::word);
    case 'f':
      word_rest_ = "alse";
      return go(Place::word);
    case 'n':
      word_rest_ = "ull";
      return go(Place::word);
    case '-':
      return go(Place::minus);
    case '0':
      return go(Place::zero);
    default:
      return is_digit(c) ? go(Place::integer) : fail();
  }
}

bool Scanner::step_escape(char c) {
  if (c == 'u') {
    hex_digits_ = 0;
    hex_unit_ = 0;
    return go(Place::hex);
  }
  if (!is_short_escape(c)) return fail();
  after_high_ = false;
  return go(Place::string);
}

bool Scanner::step_hex(char c) {
  const int digit = hex_digit(c);
  if (digit < 0) return fail();
  hex_unit_ = static_cast<std::uint16_t>(hex_unit_ << 4 | digit);
  ++hex_digits_;
  if (hex_digits_ == 1 && hex_unit_ != 0xD) after_high_ = false;
  if (hex_digits_ == 2 && hex_unit_ < 0xDC) after_high_ = false;
  if (hex_digits_ < 4) return true;
  after_high_ = is_high_surrogate(hex_unit_);
  return go(Place::string);
}

bool Scanner::step_word(char c) {
  if (word_rest_.empty()) return end_value(), false;
  if (c != word_rest_.front()) return fail();
  word_rest_.remove_prefix(1);
  return true;
}

bool Scanner::step_number(char c) {
  const Place whole = place_;
  if (is_digit(c)) {
    if (whole == Place::minus) return go(c == '0' ? Place::zero : Place::integer);
    if (whole == Place::point) return go(Place::fraction);
    if (whole == Place::exponent_mark || whole == Place::exponent_sign) return go(Place::exponent);
    if (whole != Place::zero) return true;
  }
  const bool before_point = whole == Place::zero || whole == Place::integer;
  if (c == '.' && before_point) return go(Place::point);
  if ((c == 'e' || c == 'E') && (before_point || whole == Place::fraction)) {
    return go(Place::exponent_mark);
  }
  if ((c == '+' || c == '-') && whole == Place::exponent_mark) return go(Place::exponent_sign);
  if (!scalar_complete()) return fail();
  return end_value(), false;
}

bool Scanner::scalar_complete() const {
  return place_ == Place::zero || place_ == Place::integer || place_ == Place::fraction ||
         place_ == Place::exponent || (place_ == Place::word && word_rest_.empty());
}

bool Scanner::open(bool object) {
  if (!nesting_.open(object)) return fail();
  return go(object ? Place::name_or_end : Place::element_or_end);
}

bool Scanner::close() {
  nesting_.close();
  end_value();
  return true;
}

bool Scanner::go(Place next) {
  place_ = next;
  return true;
}

void Scanner::end_value() { place_ = nesting_.depth() == 0 ? Place::closed : Place::comma_or_end; }

bool Scanner::fail() {
  place_ = Place::failed;
  return false;
}

}  // namespace callgate::json
