// The family that writes calls as a Python literal, a list of dicts:
//
//   <|tool_calls|>[{'name': 'get_weather', 'arguments': {'city': 'Paris', 'days': 3, 'deep': True}}]
//
// The call starts where its arguments do, if its name is known; arguments that come before the name are held back.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "callgate/dialect.h"
#include "dialect/call_reader.h"
#include "dialect/family/python_literal.h"
#include "dialect/family/quoted_string.h"
#include "dialect/turn_parser.h"

namespace callgate::dialect {

class LiteralCalls final : public CallReader {
 public:
  // An opener that ends with a bracket opens the list itself. REQUIRES: the openers and tools outlive the reader.
  LiteralCalls(std::span<const Opener> openers, const DialectOptions& options)
      : openers_(openers),
        tools_(options.tools),
        limit_(std::max<std::size_t>(options.max_held_back, 1)) {}

  void open(std::size_t opener, Output& out) override;
  Step push(std::string_view bytes, Output& out) override;
  void finish(Output& out) override;

 private:
  enum class At : std::uint8_t {
    lead,     // before the list or a dict
    element,  // in the list, before a dict
    key_or_end,
    key,
    colon,
    value,
    name,
    other_text,  // the string of another member
    other_word,
    arguments,
    comma_or_end,
    next,  // behind a dict
  };
  enum class Key : std::uint8_t { name, arguments, other };

  bool read(char c, Output& out);
  bool read_between(char c, Output& out);
  bool read_in_dict(char c, Output& out);
  bool begin_value(char c, Output& out);
  void begin_dict();
  void begin_text(At at, char quote);
  std::size_t read_text(std::string_view bytes, Output& out);
  std::size_t read_arguments(std::string_view bytes, Output& out);
  bool close_text();
  bool fail(Output& out);
  void start(Output& out);
  void end_call(CallOutcome outcome, Output& out);

  std::span<const Opener> openers_;
  std::span<const ToolSpec> tools_;
  std::size_t limit_;
  const Opener* opener_ = nullptr;
  At at_ = At::lead;
  Key key_ = Key::other;
  Step::Next next_ = Step::Next::more;
  bool in_list_ = false;
  bool started_ = false;
  bool arguments_begun_ = false;
  CallIndex calls_before_ = 0;
  std::string name_;
  std::string text_;  // the key or string that is being read, as JSON without quotes
  std::string json_;
  QuotedString string_;
  PythonArguments arguments_;
};

}  // namespace callgate::dialect
