// The prose around calls, read from a whole turn: reasoning envelopes, white space that is structure, end tokens.
//
//   <think>\nLook it up.\n</think>\n\nOne moment.\n<tool_call>...</tool_call><|im_end|>
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "dialect/reference/reference.h"

namespace callgate::dialect::reference::tagged {

struct TurnGrammar {
  std::string think_open = "<think>";
  std::string think_close = "</think>";
  std::string answer_open;  // wraps text
  std::string answer_close;
  std::vector<std::string> openers;  // what follows may be a call
  std::vector<std::string> closers;  // structure behind a call
  std::vector<std::string> tails;    // structure at the end of a turn
  bool call_ends_reasoning = false;
  bool drops_space_before_calls = false;
  bool special = false;       // openers and closers are special tokens
  bool empty_blocks = false;  // an opener and its closer with nothing between them are structure
  std::string bare;  // an opener that is hidden before what begins like neither JSON nor a tag
  std::vector<std::string> strays;    // special tokens that mean nothing on their own
  std::vector<std::string> oddities;  // too odd to have an opinion on
};

// What stands behind an opener.
struct CallRead {
  // Text: the opener is, what follows it is read again.
  enum class Found { call, empty_section, text, no_opinion };
  Found found = Found::no_opinion;
  std::size_t end = 0;  // behind a call, or the opener of an empty section
  std::string name;
  std::string arguments;
  CallOutcome outcome = CallOutcome::complete;
};
// `at` is where the opener begins.
using ReadCall = std::function<CallRead(std::size_t at)>;

// False: no opinion.
bool read_turn(const ReferenceCase& turn, const TurnGrammar& grammar, const ReadCall& read_call,
               EventLog& log);

// A line, or what stands behind a tag, may begin like a JSON call without any marker.
bool may_hold_bare_json(std::string_view text);
bool stands_at(std::string_view text, std::size_t at, std::string_view what);
std::size_t skip_space(std::string_view text, std::size_t at);
bool is_blank(std::string_view text);

}  // namespace callgate::dialect::reference::tagged
