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

// Fails when it is no answer that a hook may give at that moment.
Result<HookVerdict> read_verdict(std::string_view json, HookMoment moment);

}  // namespace callgate::tool
