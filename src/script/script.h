// The script of a deterministic model: which reply goes with which request. docs/script.md describes the text form.
//
//   rule weather
//     when user contains "weather"
//     when turn 0
//     text "Let me look."
//     call get_weather {"city": "Paris"}
//
//   rule answer
//     when last tool
//     pace 10ms
//     cut words
//     text "It is 18 degrees in Paris."
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "callgate/request.h"
#include "callgate/result.h"
#include "script/cut.h"
#include "script/fault.h"
#include "script/part.h"
#include "script/tape.h"

namespace callgate::script {

struct Step;

struct Done {};    // finish, usage and [DONE] now; what follows comes after it
struct NoDone {};  // no [DONE]
struct Delay {
  std::uint32_t milliseconds = 0;
};
struct Pace {
  std::uint32_t milliseconds = 0;
};
struct SetCut {
  std::optional<Cut> text;  // also reasoning and refusals
  std::optional<Cut> arguments;
};
struct Truncate {
  std::size_t bytes = 0;
};
struct Frame {
  std::string json;  // written as it is, in the framing of the wire format
};
struct Raw {
  std::string bytes;
};
struct Status {
  int status = 0;
  std::optional<std::string> body;  // not given: an error body in the wire format
};
struct Head {};  // send status and headers now
struct End {
  Rendering::Op::Kind how = Rendering::Op::Kind::close;
};
struct ClearFaults {};
struct Demo {};  // what the demo model says to this request
struct Repeat {
  std::uint32_t count = 0;
  std::vector<Step> steps;
};

struct Step {
  std::variant<Say, Call, Usage, Finish, Done, NoDone, Delay, Pace, SetCut, WriteMode, Truncate,
               Frame, Raw, Status, Head, End, Faults, ClearFaults, Demo, Repeat>
      what;
};

// What a rule asks of a request. Everything that is given must hold.
struct Condition {
  struct Contains {
    Role role = Role::user;  // looked for in the last message with that role
    std::string text;
  };
  std::string model;  // a glob: * and ?; empty: any
  std::optional<Role> last_role;
  std::optional<std::uint32_t> turn_from;  // number of assistant messages in the request
  std::optional<std::uint32_t> turn_to;
  std::optional<bool> tools;
  std::optional<ToolChoice::Mode> tool_choice;  // automatic: also when the request says nothing
  std::optional<bool> stream;
  std::vector<Contains> contains;

  bool matches(const Request& request) const;
};

struct Rule {
  std::string name;
  Condition when;
  std::optional<std::uint32_t> times;  // answers this often, then it is passed over
  Headers headers;
  std::vector<Step> steps;
  bool reads_request = false;  // the reply depends on what the messages say
};

struct Script {
  std::vector<Rule> rules;          // the first one that matches answers
  std::vector<std::string> models;  // what a server that plays the script lists
  std::uint64_t seed = 1;           // ids come from this alone
  std::int64_t created = 1767225600;
};

// Fails with the line at fault: `line 3: pace: "fast", expected a duration such as 20ms or 2s`.
Result<Script> parse_script(std::string_view text);

}  // namespace callgate::script
