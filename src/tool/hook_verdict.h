// What a hook answers when it is asked about a call. No I/O here.
//   {"action":"allow","arguments":{"id":"8"}}
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "callgate/result.h"
#include "tool/config.h"

namespace callgate::tool {

struct HookVerdict {
  enum class Action : std::uint8_t { allow, deny, replace };
  Action action = Action::allow;
  std::string reason;                    // of deny
  std::optional<std::string> arguments;  // of allow, before the tool: a JSON object
  std::string result;                    // of replace
  bool is_error = false;                 // of replace
};

// What a hook answers when it is asked about a prompt or a piece of an answer.
//   {"action":"rewrite","text":"My number is [removed]."}
struct WordVerdict {
  enum class Action : std::uint8_t { allow, deny, rewrite };
  Action action = Action::allow;
  std::string reason;    // of deny
  std::string text;      // of rewrite, of an answer; may be empty
  std::string messages;  // of rewrite, of a prompt: a JSON array
};

// Fails when it is not an answer that a hook may give at that moment, which is prompt or answer.
Result<WordVerdict> read_word_verdict(std::string_view json, HookMoment moment);

// Fails if a hook may not give this answer at that moment.
Result<HookVerdict> read_verdict(std::string_view json, HookMoment moment);

}  // namespace callgate::tool
