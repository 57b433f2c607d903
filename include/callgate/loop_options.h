// What the tool loop may do: its limits and modes, and the tools that callgate itself runs.
// Plain values, copied by ToolLoop::make(). docs/loop.md explains what each of them means to a caller.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "callgate/request.h"

namespace callgate::loop {

using Millis = std::int64_t;  // on any clock that never goes back; the owner of the loop reads it

// What happens at max_calls, max_calls_per_tool, calls_per_round and max_calls_read.
enum class OnLimit : std::uint8_t {
  stop,        // the loop ends with the round; what runs already may finish
  tell_model,  // the call gets an error as its result, the loop goes on
};

// What happens when a tool that ran has failed.
enum class OnToolError : std::uint8_t {
  tell_model,  // the error is the call's result
  stop,        // the loop ends with `error` at once
};

// What the owner's memory of a conversation keeps.
enum class Memory : std::uint8_t {
  none,
  outside,  // the user's messages and the final answer
  inside,   // every step; the loop then sends only what is new
};

// Which tools a caller may use. A tool must match no `deny` of a rule for the caller's key and, where such rules have an
// `allow`, one of these.
struct ToolRule {
  std::string key = "*";  // a pattern for the name of the caller's key
  std::vector<std::string> allow;
  std::vector<std::string> deny;
};

// A tool that callgate runs.
struct Tool {
  ToolSpec spec;
  bool exclusive = false;      // nothing else of this loop runs while it does
  bool return_direct = false;  // its result is the answer, if all calls of the round are such
  bool approval = false;       // a person must agree first
  bool pinned = false;         // shown even where find_tools hides others
  Millis timeout = 0;          // 0: Options::tool_timeout
  std::optional<std::uint32_t> max_calls;  // of this tool per turn; 0: no limit
  std::optional<OnToolError> on_error;
};

struct Options {
  std::uint32_t max_tool_rounds = 10;     // at most one more turn of the model than this
  std::uint32_t max_calls_per_tool = 40;  // 0: no limit, as for the four below
  std::uint32_t max_calls = 150;
  std::uint32_t calls_per_round = 32;
  // Calls of callgate's tools that are read of one turn of the model. Those after them are passed over, which on_limit
  // takes as a limit of calls.
  std::uint32_t max_calls_read = 1'000;
  // Of the text, reasoning and calls of one turn of the model, which the loop keeps. A longer turn ends the loop with an error.
  std::size_t max_turn_bytes = std::size_t{8} << 20;
  std::uint32_t parallel = 8;  // tools that run at the same time, at least 1
  Millis loop_timeout = 300'000;
  Millis tool_timeout = 30'000;
  Millis approval_timeout = 120'000;
  OnLimit on_limit = OnLimit::stop;
  OnToolError on_tool_error = OnToolError::tell_model;
  Memory memory = Memory::outside;
  // How many of the request's first messages the owner's memory already has; the rest is new. Without a value the caller
  // sends the whole conversation, and the user's last messages are what is new.
  std::optional<std::size_t> in_memory;
  bool show_tool_calls = false;

  std::string key;  // the name of the caller's key, for the rules
  std::vector<ToolRule> rules;

  std::uint32_t repeated_calls =
      3;  // this one of identical calls gets advice instead of a run; 0: off
  std::uint32_t repeats_to_force =
      3;  // after this many more of them the model must answer without tools
  std::uint32_t repeated_results =
      3;                            // from this one on identical results say that they are; 0: off
  std::uint32_t empty_retries = 1;  // how often an empty answer is asked for again
  std::uint32_t turn_retries =
      2;  // of a turn of the model that failed before anything of it was sent

  std::size_t evict_bytes = 20'000;  // longer results are kept aside and shown in part; 0: off
  std::size_t evict_preview_bytes =
      2'000;                         // of such a result, half from its head, half from its tail
  std::size_t evicted_results = 50;  // kept; the oldest goes first
  std::size_t evicted_bytes = std::size_t{8} << 20;  // of all that are kept

  std::uint32_t find_tools_above =
      20;  // if there are more tools, find_tools takes their place; 0: never
  std::uint32_t find_tools_limit = 5;  // tools that one search shows

  std::size_t notice_preview_bytes = 500;
  bool return_reasoning =
      true;  // the model gets its reasoning back with its calls, as `reasoning_content`
  // Put between the texts of two rounds where no white space stands.
  std::string round_separator = "\n\n";
  std::uint64_t id_seed = 0;  // ids that the loop mints come from this alone
};

// Sets the option of that name from text: a number, a duration such as 300ms, 5s or 2m (a bare number is milliseconds),
// true or false, or a word from the enums above. The key and its rules cannot be set like this: they are not the caller's
// to choose. Returns false and changes nothing if the name or the value is unknown.
bool set_option(Options& options, std::string_view name, std::string_view value);

}  // namespace callgate::loop
