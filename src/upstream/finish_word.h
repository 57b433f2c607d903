// The words that upstreams use for the end of a turn, a table of vendor aliases.
//
//   "finish_reason":"tool_calls"   "finish_reason":"eos"   "finish_reason":"MAX_TOKENS"
#pragma once

#include <optional>
#include <string_view>

#include "callgate/event.h"

namespace callgate::upstream {

// Case does not matter. nullopt: a word that is not in the table. upstream_error: the upstream says it failed.
std::optional<FinishReason> finish_reason_of(std::string_view word);

// False for what servers write where there is no word yet: "null", "none".
bool is_finish_word(std::string_view word);

}  // namespace callgate::upstream
