// A call as a JSON object, its members in any order:
//
//   {"id": "a1", "name": "f", "arguments": {"city": "Paris"}}
//   {"type": "function", "function": {"name": "f", "parameters": "{\"city\": \"Paris\"}"}}
//
// The call starts as soon as its name is known and its arguments begin; arguments that come earlier, or before an id
// that the dialect has, are held back.
//
// Without `arguments` the other members are the arguments: {"name": "bash", "cmd": "ls"}. Beside them, those that are
// parameters of the declared tool are arguments as well; the rest is dropped.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "callgate/request.h"
#include "dialect/call_reader.h"
#include "dialect/family/json_arguments.h"
#include "dialect/family/json_string.h"
#include "dialect/turn_parser.h"
#include "json/scanner.h"

namespace callgate::dialect {

// How a dialect names the members. Spans must have static storage.
struct CallKeys {
  enum class Shape : std::uint8_t {
    members,      // {"name": "f", "arguments": {}}
    name_is_key,  // {"f": {}}
  };
  Shape shape = Shape::members;
  std::span<const std::string_view> id;         // empty: the dialect has no ids
  std::span<const std::string_view> name;       // empty: those that most models write
  std::span<const std::string_view> arguments;  // the same
};

class CallObject {
 public:
  // REQUIRES: `keys`, `tools` and `prose` outlive the object.
  CallObject(const CallKeys& keys, std::span<const ToolSpec> tools, const Prose& prose)
      : keys_(keys), tools_(tools), arguments_(prose) {}

  // The opening brace has been read and is held.
  void begin(Opener::Names names);
  // `closed`: the call is finished, complete or malformed. `rejected`: it never started.
  Step push(std::string_view bytes, Output& out);
  void finish(Output& out);
  bool overflow(Output& out);
  // Its name and arguments were good enough to start a call.
  bool has_started() const { return started_; }

 private:
  enum class State : std::uint8_t {
    key_or_end,
    key,
    colon,
    value,
    name,
    id_string,
    id_other,
    arguments,
    arguments_string,
    arguments_null,
    skipped,
    comma_or_end,
  };
  enum class Key : std::uint8_t { name, function, arguments, id, other };

  Step push_arguments(std::string_view bytes, Output& out);
  std::size_t push_text(std::string_view bytes, Output& out);
  std::size_t push_skipped(std::string_view bytes, Output& out);
  // False: not the shape of a call.
  bool step(char c, Output& out);
  bool step_value(char c, Output& out);
  bool begin_arguments(char c, Output& out);
  bool text_closed(Output& out);
  bool take_name_as_key();
  void end_argument_string(Output& out);
  Key key_of(std::string_view text) const;
  bool is_known_key();
  bool is_parameter(std::string_view key);
  void keep_member();
  void append_members(std::string& json, bool first);
  void close_arguments(Output& out);
  bool may_start() const;
  bool is_guess() const;
  void start(Output& out);
  Step end(std::size_t used, Output& out);
  // What the state expects.
  std::string_view wanted() const;
  Step fail(std::size_t used, const Found& found, Output& out);

  const CallKeys& keys_;
  std::span<const ToolSpec> tools_;
  JsonArguments arguments_;
  JsonString string_;
  json::Scanner scan_;
  Opener::Names names_ = Opener::Names::any;
  State state_ = State::key_or_end;
  Key key_ = Key::other;
  bool nested_ = false;  // inside the object of `function`
  bool closed_ = false;
  bool started_ = false;
  bool arguments_begun_ = false;
  bool arguments_ended_ = false;
  bool id_known_ = false;
  bool brace_kept_ = false;       // the arguments' closing brace was read and has not left
  bool has_members_ = false;      // the arguments' object does
  bool parameters_read_ = false;  // those of name_
  CallOutcome outcome_ = CallOutcome::complete;
  struct Member {
    std::string key;
    std::string json;
  };
  std::vector<Member> members_;          // beside the arguments
  std::vector<std::string> parameters_;  // of the declared tool
  std::string member_key_;
  std::string member_json_;
  std::string text_;     // the key or string that is being read
  std::string decoded_;  // of arguments that are a string
  std::string name_;
  std::string id_;
};

bool is_declared(std::span<const ToolSpec> tools, std::string_view name);

// It is declared, or nobody said which tools there are.
inline bool may_be_called(std::span<const ToolSpec> tools, std::string_view name) {
  return tools.empty() || is_declared(tools, name);
}

}  // namespace callgate::dialect
