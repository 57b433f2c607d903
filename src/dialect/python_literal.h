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

#include "dialect/quoted_string.h"
#include "dialect/schema_types.h"

namespace callgate::dialect {

class PythonArguments {
 public:
  enum class State : std::uint8_t { open, closed, failed };

  // After the opening parenthesis. `arguments` names positional arguments.
  void begin(SchemaPlace arguments, std::size_t limit, std::string& out);
  // After the opening brace of a dict that is all of the arguments: {'city': 'Paris'}.
  void begin_dict(std::size_t limit, std::string& out);
  // Reads until the closing parenthesis or brace, or a fault; returns how many bytes were used. A faulty byte is not.
  std::size_t push(std::string_view bytes, std::string& out);
  State state() const { return state_; }
  // Inside a string that has nothing held back: plain bytes leave as they are.
  bool streams() const { return at_ == At::string && waiting_ == 0 && string_.streams(); }
  // The turn ended here.
  void cut(std::string& out);

 private:
  enum class At : std::uint8_t { value, word, string, after_string, after_value };
  enum class Frame : std::uint8_t { call, list, tuple, dict, set, paren, brace };
  struct Open {
    Frame frame;
    std::size_t offset;  // paren, brace: where in undecided_ its bracket belongs
    std::size_t count;   // elements so far; call: positional ones too
    bool key;            // dict: a key is expected
  };

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
  SchemaPlace schema_;
  std::size_t limit_ = 0;
  std::vector<Open> stack_;
  std::string word_;
  QuotedString string_;
  std::string undecided_;    // output behind a bracket that is not known yet
  std::size_t waiting_ = 0;  // how many such brackets
  bool named_ = false;       // the call's argument has its name
};

// A number or a bare word of Python as JSON. False: it is neither.
bool append_python_word(std::string& out, std::string_view word);

}  // namespace callgate::dialect
