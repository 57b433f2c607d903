#include "dialect/family/quoted_string.h"

#include <algorithm>

#include "base/find_any.h"
#include "base/utf8.h"
#include "json/writer.h"

namespace callgate::dialect {
namespace {

int string_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 99;
}

bool is_high_half(char32_t c) { return c >= 0xD800 && c < 0xDC00; }
bool is_low_half(char32_t c) { return c >= 0xDC00 && c < 0xE000; }

}  // namespace

void QuotedString::begin(char quote, Style style) {
  at_ = style == Style::json ? At::text : At::first;
  quote_ = quote;
  style_ = style;
  triple_ = false;
  surrogate_ = 0;
  tail_.clear();
}

std::size_t QuotedString::push(std::string_view bytes, std::string& out) {
  std::size_t i = 0;
  while (i < bytes.size() && at_ != At::closed) {
    if (at_ == At::text) {
      i += push_text(bytes.substr(i), out);
    } else if (step(bytes[i], out)) {
      ++i;
    }
  }
  return i;
}

std::size_t QuotedString::push_text(std::string_view bytes, std::string& out) {
  const std::size_t run = find_any(bytes, 0, std::array{quote_, '\\'});
  append(bytes.substr(0, run), out);
  if (run == bytes.size()) return run;
  if (bytes[run] == '\\') {
    at_ = At::escape;
  } else if (triple_) {
    at_ = At::quotes;
    quotes_ = 1;
  } else {
    flush_tail(out);
    at_ = At::closed;
  }
  return run + 1;
}

// False: the byte is to be looked at again in the new state.
bool QuotedString::step(char c, std::string& out) {
  switch (at_) {
    case At::first:
      at_ = c == quote_ ? At::second : At::text;
      return c == quote_;
    case At::second:
      triple_ = c == quote_;
      at_ = triple_ ? At::text : At::closed;
      return triple_;
    case At::quotes:
      if (c == quote_) {
        if (++quotes_ < 3) return true;
        flush_tail(out);
        at_ = At::closed;
        return true;
      }
      for (; quotes_ > 0; --quotes_) append(std::string_view(&quote_, 1), out);
      at_ = At::text;
      return false;
    case At::escape:
      begin_escape(c, out);
      return true;
    case At::digits:
      if (string_digit(c) < base_ && escape_.size() < wanted_) {
        escape_.push_back(c);
        if (escape_.size() == wanted_) end_digits(out);
        return true;
      }
      end_digits(out);
      return false;
    case At::text:
    case At::closed:
      break;
  }
  return true;
}

void QuotedString::begin_escape(char c, std::string& out) {
  // JSON knows the first eight.
  constexpr std::string_view kNames = "bfnrt\\\"/av'";
  constexpr std::string_view kValues = "\b\f\n\r\t\\\"/\a\v'";
  at_ = At::text;
  const char pair[] = {'\\', c};
  if (style_ == Style::python_raw) return append(std::string_view(pair, 2), out);
  const bool json = style_ == Style::json;
  if (!json && (c == '\n' || c == '\r')) return;
  const std::size_t name = kNames.find(c);
  if (json ? name < 8 : name != std::string_view::npos && c != '/') {
    return append(kValues.substr(name, 1), out);
  }
  // The first two characters of escape_ are the backslash and the letter, or the backslash and an octal digit.
  escape_.assign(pair, 2);
  base_ = c >= '0' && c <= '7' ? 8 : 16;
  wanted_ = base_ == 8 || c == 'x' ? 4 : c == 'u' ? 6 : c == 'U' ? 10 : 0;
  if (json && c != 'u') wanted_ = 0;
  if (wanted_ == 0) return append(escape_, out);
  at_ = At::digits;
}

void QuotedString::end_digits(std::string& out) {
  at_ = At::text;
  if (base_ == 16 && escape_.size() < wanted_) return append(escape_, out);
  char32_t code_point = 0;
  for (const char c : std::string_view(escape_).substr(base_ == 8 ? 1 : 2)) {
    code_point = code_point * static_cast<char32_t>(base_) + static_cast<char32_t>(string_digit(c));
  }
  if (code_point > 0x10FFFF) return append(escape_, out);
  append_code_point(code_point, out);
}

void QuotedString::append(std::string_view text, std::string& out) {
  if (text.empty()) return;
  if (surrogate_ != 0) {
    out += utf8::kReplacement;
    surrogate_ = 0;
  }
  if (tail_.empty() && static_cast<signed char>(text.back()) >= 0) {
    json::append_escaped(out, text);
    return;
  }
  tail_ += text;
  const std::size_t whole = tail_.size() - utf8::incomplete_tail(tail_);
  json::append_escaped(out, std::string_view(tail_).substr(0, whole));
  tail_.erase(0, whole);
}

void QuotedString::append_code_point(char32_t code_point, std::string& out) {
  if (surrogate_ != 0 && is_low_half(code_point)) {
    code_point = 0x10000 + ((surrogate_ - 0xD800) << 10) + (code_point - 0xDC00);
    surrogate_ = 0;
  }
  if (is_high_half(code_point)) {
    flush_tail(out);
    surrogate_ = code_point;
    return;
  }
  std::string text;
  utf8::append_code_point(text, is_low_half(code_point) ? U'\uFFFD' : code_point);
  append(text, out);
}

void QuotedString::flush_tail(std::string& out) {
  if (surrogate_ != 0) out += utf8::kReplacement;
  surrogate_ = 0;
  json::append_escaped(out, tail_);
  tail_.clear();
}

void QuotedString::reopen(std::string& out) {
  at_ = At::text;
  append(std::string_view(&quote_, 1), out);
}

void QuotedString::cut(std::string& out) {
  if (at_ == At::quotes) append(std::string(static_cast<std::size_t>(quotes_), quote_), out);
  if (at_ == At::escape) append("\\", out);
  if (at_ == At::digits) append(escape_, out);
  flush_tail(out);
  at_ = At::closed;
}

}  // namespace callgate::dialect
