// The family that writes calls as Python does:
//
//   [get_weather(city="Paris", days=3), get_time()]
//   <function_calls>get_weather(city="Paris")
//   get_time()</function_calls>
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "callgate/dialect.h"
#include "dialect/call_reader.h"
#include "dialect/family/python_literal.h"
#include "dialect/family/schema_types.h"
#include "dialect/turn_parser.h"

namespace callgate::dialect {

class PythonCalls final : public CallReader {
 public:
  // An opener that ends with a bracket opens the list itself; behind any other one the brackets may be missing.
  // REQUIRES: the openers outlive the reader.
  PythonCalls(std::span<const Opener> openers, const DialectOptions& options)
      : openers_(openers),
        schemas_(options.tools),
        limit_(std::max<std::size_t>(options.max_held_back, 1)) {}

  void open(std::size_t opener, Output& out) override;
  Step push(std::string_view bytes, Output& out) override;
  void finish(Output& out) override;

 private:
  enum class At : std::uint8_t {
    lead,  // before the list or its first call
    name,
    before_arguments,
    arguments,
    after_call,
    after_comma,
  };

  bool read(char c);
  bool stop(Step::Next next);
  bool begin_name(char c);
  std::string_view wanted() const;
  void begin_call(Output& out);
  std::size_t read_arguments(std::string_view bytes, Output& out);
  void end_arguments(Output& out);
  bool read_byte(char c, Output& out);

  std::span<const Opener> openers_;
  ToolSchemas schemas_;
  std::size_t limit_;
  const Opener* opener_ = nullptr;
  At at_ = At::lead;
  Step::Next next_ = Step::Next::more;
  bool in_list_ = false;
  std::string name_;
  std::string json_;
  PythonArguments arguments_;
  std::string replay_;  // read, and no part of the calls
};

}  // namespace callgate::dialect
