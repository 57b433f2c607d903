// Reads a script line by line, and a line word by word:
//   call get_weather {"city": "Paris"} id=call_7     # a comment
// Strings and JSON values are JSON; `<<WORD` takes the lines up to one that says WORD.
// After the first fault every read returns an empty value: check once, at the end of a line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "callgate/result.h"

namespace callgate::script {

class LineReader {
 public:
  explicit LineReader(std::string_view text) : text_(text) {}

  // The next line that says something, its first word in keyword(). False: the text is over or there is a fault.
  bool next();
  std::string_view keyword() const { return keyword_; }

  // Nothing is left in the line but white space or a comment.
  bool at_end();
  // What comes next in the line, 0 at its end.
  char peek();
  std::string_view word();
  // The word if it comes next.
  bool take(std::string_view word);
  std::string string();
  // A JSON value, verbatim.
  std::string json();
  bool at_block();  // `<<` comes next
  // The lines of a `<<WORD` block, each with its line feed.
  std::string block();
  // One or more strings, or one block without its last line feed.
  std::vector<std::string> strings();
  std::uint64_t number(std::uint64_t max);
  std::uint32_t milliseconds();
  std::string_view rest_of_line();

  void fail(std::string message);
  // A fault that reads `KEYWORD: "FOUND", expected EXPECTED`.
  void fail_word(std::string_view found, std::string_view expected);
  bool failed() const { return error_.has_value(); }
  const Error& error() const { return *error_; }
  std::size_t line() const { return line_; }

 private:
  std::string_view take_line();
  void skip_space();

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t line_ = 0;
  std::string_view keyword_;
  std::string_view rest_;
  std::optional<Error> error_;
};

}  // namespace callgate::script
