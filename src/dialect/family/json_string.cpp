#include "dialect/family/json_string.h"

#include "base/utf8.h"
#include "json/escape.h"

namespace callgate::dialect {

void JsonString::begin() {
  state_ = State::plain;
  high_ = 0;
}

std::size_t JsonString::push(std::string_view bytes, std::string& decoded) {
  std::size_t at = 0;
  while (at < bytes.size() && state_ != State::closed) {
    if (state_ == State::plain && high_ == 0) {
      std::size_t end = at;
      while (end < bytes.size() && bytes[end] != '"' && bytes[end] != '\\') ++end;
      decoded.append(bytes.substr(at, end - at));
      at = end;
      if (at == bytes.size()) break;
    }
    step(bytes[at++], decoded);
  }
  return at;
}

void JsonString::step(char c, std::string& decoded) {
  switch (state_) {
    case State::plain:
      if (c == '\\') {
        state_ = State::escape;
        return;
      }
      flush_high(decoded);
      if (c == '"') {
        state_ = State::closed;
      } else {
        decoded.push_back(c);
      }
      return;
    case State::escape:
      if (c == 'u') {
        state_ = State::hex;
        digits_ = 0;
        unit_ = 0;
        return;
      }
      flush_high(decoded);
      state_ = State::plain;
      if (!json::is_short_escape(c)) decoded.push_back('\\');
      decoded.push_back(c == 'n'   ? '\n'
                        : c == 't' ? '\t'
                        : c == 'r' ? '\r'
                        : c == 'b' ? '\b'
                        : c == 'f' ? '\f'
                                   : c);
      return;
    case State::hex: {
      const int digit = json::hex_digit(c);
      if (digit < 0) {
        flush_high(decoded);
        decoded.append(utf8::kReplacement);
        state_ = State::plain;
        step(c, decoded);
        return;
      }
      unit_ = static_cast<std::uint16_t>(unit_ * 16 + digit);
      if (++digits_ == 4) take_unit(decoded);
      return;
    }
    case State::closed:
      return;
  }
}

void JsonString::take_unit(std::string& decoded) {
  state_ = State::plain;
  if (high_ != 0 && json::is_low_surrogate(unit_)) {
    utf8::append_code_point(decoded, 0x10000u + ((high_ - 0xD800u) << 10) + (unit_ - 0xDC00u));
    high_ = 0;
    return;
  }
  flush_high(decoded);
  if (json::is_high_surrogate(unit_)) {
    high_ = unit_;
  } else if (json::is_low_surrogate(unit_)) {
    decoded.append(utf8::kReplacement);
  } else {
    utf8::append_code_point(decoded, unit_);
  }
}

void JsonString::flush_high(std::string& decoded) {
  if (high_ != 0) decoded.append(utf8::kReplacement);
  high_ = 0;
}

}  // namespace callgate::dialect
