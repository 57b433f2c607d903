// The arguments of a Python call on their way to JSON, while they stream.
//
//   city='Paris', days=3, tags=["a", "b"], opts={'deep': True, 'n': None})
//   {"city":"Paris","days":3,"tags":["a","b"],"opts":{"deep":true,"n":null}}
//
// Literals of every kind: strings with all escapes, prefixes, triple quotes and implicit concatenation; numbers with
// underscores, other bases, `.5` and `5.`; dict, list, tuple and set; trailing commas. A bare word is a string. A
// positional argument takes the name that the schema lists at its position, or `arg0`, `arg1` and so on: a call
// without names would lose its arguments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dialect/family/quoted_string.h"
#include "dialect/family/schema_types.h"

namespace callgate::dialect {

class PythonArguments {
 public:
  enum class State : std::uint8_t { open, closed, failed };
  enum class Tolerance : std::uint8_t {
    none,   // literals only
    words,  // a bare word is a string
    // And a quote inside a string that nobody escaped is part of it: 'sed -n '1,9p' f'. Only what stands behind a quote
    // says so. Behind the closing parenthesis of a call in a list only the list goes on, else a line or a call ends.
    quotes_in_list,
    quotes,
  };

  // After the opening parenthesis. `arguments` names positional arguments.
  void begin(SchemaPlace arguments, std::size_t limit, std::string& out,
             Tolerance tolerance = Tolerance::words);
  // After the opening brace of a dict that is all of the arguments: {'city': 'Paris'}.
  void begin_dict(std::size_t limit, std::string& out);
  // Reads until the closing parenthesis or brace, or a fault; returns how many bytes were used. A faulty byte is not.
  std::size_t push(std::string_view bytes, std::string& out);
  State state() const { return state_; }
  // Inside a string that has nothing held back: plain bytes leave as they are.
  bool streams() const { return at_ == At::string && waiting_ == 0 && string_.streams(); }
  // Closed or failed: bytes that were used to find out, and do not belong to the arguments.
  std::string_view rest() const { return rest_; }
  // The turn ended here: a quote that may have closed its string did. Closed or cut() are next.
  void settle(std::string& out);
  void cut(std::string& out);

 private:
  enum class At : std::uint8_t { value, word, string, maybe_closed, after_string, after_value };
  enum class Verdict : std::uint8_t { closes, data, undecided };
  enum class Frame : std::uint8_t { call, list, tuple, dict, set, paren, brace };
  struct Open {
    Frame frame;
    std::size_t offset;  // paren, brace: where in undecided_ its bracket belongs
    std::size_t count;   // elements so far; call: positional ones too
    bool key;            // dict: a key is expected
  };

  void take_string(std::string_view bytes, std::size_t& at, std::string& out);
  void look(char c, std::string& out);
  void read_again(std::string& out);
  Verdict judge() const;
  Verdict judge_quote(std::string_view from) const;
  Verdict judge_argument(std::string_view from) const;
  Verdict judge_end(std::string_view from) const;
  static Verdict judge_name(std::string_view from, char behind);
  bool step(char c, std::string& out);
  bool step_value(char c, std::string& out);
  bool step_word(char c, std::string& out);
  bool step_after_string(char c, std::string& out);
  bool step_after_value(char c, std::string& out);
  bool open(Frame frame, std::string& out);
  bool close(char c, std::string& out);
  bool comma(std::string& out);
  bool colon(std::string& out);
  bool keyword(std::string& out);
  bool finish_word(bool as_key, std::string& out);
  void begin_element(std::string& out);
  void decide(std::string_view bracket, std::string& out);
  bool fail();
  std::string& target(std::string& out) { return waiting_ > 0 ? undecided_ : out; }

  State state_ = State::closed;
  At at_ = At::value;
  Tolerance tolerance_ = Tolerance::words;
  std::string look_;  // what stands behind a quote that may close its string
  std::string rest_;
  bool stray_ = false;  // the string has a quote that is part of it
  SchemaPlace schema_;
  std::size_t limit_ = 0;
  std::vector<Open> stack_;
  std::string word_;
  QuotedString string_;
  std::string undecided_;    // output behind a bracket that is not known yet
  std::size_t waiting_ = 0;  // how many such brackets
  bool named_ = false;       // the call's argument has its name
  bool keyword_ = false;     // and it was written
};

// A Python literal, or JSON with words of Python, as JSON. False: `text` is not one.
bool append_python_literal(std::string& out, std::string_view text);

// A number or a bare word of Python as JSON. False: it is neither.
bool append_python_word(std::string& out, std::string_view word);

}  // namespace callgate::dialect
