// The prose of a turn for references: text, reasoning, sections, tokens that end turns. A dialect names its markers in
// TurnGrammar and reads what stands behind a call opener with a function.
//
//   <think>\nLook it up.\n</think>\n\nOne moment.\n<tool_call>...</tool_call><|im_end|>
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "chat/event_log.h"
#include "dialect/reference/reference.h"

namespace callgate::dialect::reference {

using Texts = std::vector<std::string_view>;

struct CallOpener {
  std::string_view text;
  bool first = false;     // opens only at the start of a stretch of prose
  bool declared = false;  // only the name of a declared tool makes it a call
  bool line = false;      // opens only at the start of a line
  bool quotable = false;  // text in inline code: behind a backtick on its line, no opinion
};

struct TurnGrammar {
  std::vector<std::pair<std::string_view, std::string_view>> reasoning = {{"<think>", "</think>"}};
  std::vector<std::pair<std::string_view, std::string_view>> answer = {};
  Texts section_open = {};
  std::vector<CallOpener> call_open = {};
  Texts call_close = {};
  Texts section_close = {};
  Texts tail = {};
  bool call_ends_reasoning = false;
  bool begins_in_call = false;  // the prompt ends with the first call opener
  // Special tokens: hidden when they have no partner, or where they are markers of no other list.
  Texts special = {};
  std::vector<std::pair<std::string_view, std::string_view>> hidden = {};
  Texts odd = {};             // in prose, too odd to have an opinion on
  bool empty_blocks = false;  // an opener and its closer with nothing between them are structure
};

// What stands behind a call opener.
struct Reading {
  enum class What : std::uint8_t {
    calls,       // perhaps none: an empty list
    prose,       // up to `end` without looking for markers in it
    no_call,     // the opener is prose
    no_opinion,  // too odd
  };
  What what = What::no_call;
  std::size_t end = 0;
  std::vector<LoggedCall> calls = {};
  bool closed = true;  // the calls came to their own end, so that a close marker may come late
};

// `at` is behind the opener.
using ReadCalls =
    std::function<Reading(const ReferenceCase& turn, const CallOpener& opener, std::size_t at)>;

// False: no opinion.
bool read_turn(const ReferenceCase& turn, const TurnGrammar& grammar, const ReadCalls& read_calls,
               EventLog& log);

void log_call(const LoggedCall& call, EventLog& log);

bool is_space(char c);
bool is_blank(std::string_view text);
std::string_view trimmed(std::string_view text);
std::size_t skip_space(std::string_view text, std::size_t at);
bool is_declared(const ReferenceCase& turn, std::string_view name);
// It is declared, or nobody said which tools there are.
bool may_be_called(const ReferenceCase& turn, std::string_view name);
// Without `functions.`, if only that is declared.
std::string declared_name(const ReferenceCase& turn, const std::string& name);

// The longest of `markers` that stands at `at`, or empty.
std::string_view marker_at(std::string_view text, std::size_t at, const Texts& markers);
// Where the first of `markers` stands from `at` on, or npos.
std::size_t find_marker(std::string_view text, std::size_t at, const Texts& markers);
// A backtick stands before it on its line.
bool follows_backtick(std::string_view text, std::size_t at);
// What ends a call whose arguments are missing or broken.
Texts enders_of(const TurnGrammar& grammar);

}  // namespace callgate::dialect::reference
