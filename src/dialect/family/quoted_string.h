// One quoted literal on its way to JSON, while it streams.
//
//   'it\'s \u00e9' and """several
//   lines"""
//
// An escape that its language does not know stays as it is written: `\d` is two characters, and so is `\N`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace callgate::dialect {

class QuotedString {
 public:
  // How the literal is written. Only Python's may be triple-quoted; a raw one has no escapes.
  enum class Style : std::uint8_t { python, python_raw, json };

  // After the opening `quote`.
  void begin(char quote, Style style);
  // Reads until the literal is closed; returns how many bytes belong to it. Appends JSON without quotes.
  std::size_t push(std::string_view bytes, std::string& out);
  bool closed() const { return at_ == At::closed; }
  // Nothing is held back: plain bytes leave as they are.
  bool streams() const { return at_ == At::text && tail_.empty() && surrogate_ == 0; }
  // The quote that closed the literal was part of it. REQUIRES: closed(), and not triple-quoted.
  void reopen(std::string& out);
  bool is_triple() const { return triple_; }
  char quote() const { return quote_; }
  // The turn ended here: what is held back leaves.
  void cut(std::string& out);

 private:
  enum class At : std::uint8_t { first, second, text, quotes, escape, digits, closed };

  std::size_t push_text(std::string_view bytes, std::string& out);
  bool step(char c, std::string& out);
  void begin_escape(char c, std::string& out);
  void end_digits(std::string& out);
  void append(std::string_view text, std::string& out);
  void append_code_point(char32_t code_point, std::string& out);
  void flush_tail(std::string& out);

  At at_ = At::first;
  char quote_ = '"';
  Style style_ = Style::python;
  bool triple_ = false;
  int quotes_ = 0;          // quotes seen that may close a triple-quoted literal
  int base_ = 16;           // of the escape's digits
  std::size_t wanted_ = 0;  // digits that the escape may have
  std::string escape_;      // its text so far
  char32_t surrogate_ = 0;  // a high half that waits for its low one
  std::string tail_;        // the beginning of a UTF-8 sequence
};

}  // namespace callgate::dialect
