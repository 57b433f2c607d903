// Golden cases of a dialect, which a person writes:
//
//   === marker_in_arg
//   A marker inside a JSON string is data.
//   --- tools
//   [{"name": "run", "parameters": {"type": "object"}}]
//   --- options
//   reasoning_open
//   --- in
//   <tool_call>{"name": "run", "arguments": {"cmd": "</tool_call>"}}</tool_call>
//   --- out
//   call 0 run
//   args 0 {"cmd": "</tool_call>"}
//   end 0 complete
//
// Options, one a line: reasoning_open, commit=whole_call, channel=reasoning, max_held_back=N, special_tokens_only, no_tools,
// cut_off (the upstream did not end the turn normally). `--- in json` holds a JSON string. A case that a dialect cannot
// have says `n/a: why` instead.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "callgate/dialect.h"
#include "callgate/result.h"

namespace callgate::dialect::golden {

struct Case {
  std::string name;
  std::size_t line = 0;  // of its name in the text, from 1
  std::string reason;    // of n/a
  std::vector<ToolSpec> tools;
  bool no_tools = false;  // the request declares none
  bool special_tokens_only = false;
  bool reasoning_open = false;
  bool cut_off = false;
  Commit commit = Commit::eager;
  Channel channel = Channel::text;
  std::size_t max_held_back = std::size_t{1} << 20;
  std::string in;
  std::string out;

  DialectOptions options() const {
    return {.tools = tools,
            .special_tokens_only = special_tokens_only,
            .start = reasoning_open ? Channel::reasoning : Channel::text,
            .commit = commit,
            .max_held_back = max_held_back};
  }

  std::unique_ptr<DialectParser> make(const Dialect& dialect) const {
    return no_tools ? make_without_calls(dialect, options()) : dialect.make(options());
  }
};

// What stands before the first case is a comment. The error says which line is wrong.
Result<std::vector<Case>> read_cases(std::string_view text);

// The events of the case's text in these pushes: [0, cuts[0]), [cuts[0], cuts[1]), ...
std::string print_case(const Dialect& dialect, const Case& test,
                       const std::vector<std::size_t>& cuts);

// Whether the text comes out as it should, whole, cut in two at every byte, and byte by byte. Empty, or what differs.
std::string check_case(const Dialect& dialect, const Case& test);

}  // namespace callgate::dialect::golden
