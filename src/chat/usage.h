// Token counts of several turns together.
#pragma once

#include <string>
#include <string_view>

#include "callgate/event.h"

namespace callgate {

inline void add_usage(Usage& all, const Usage& turn) {
  all.prompt_tokens += turn.prompt_tokens;
  all.completion_tokens += turn.completion_tokens;
  all.total_tokens += turn.total_tokens;
  all.cached_tokens += turn.cached_tokens;
  all.cache_write_tokens += turn.cache_write_tokens;
  all.reasoning_tokens += turn.reasoning_tokens;
  all.prompt_stated = all.prompt_stated && turn.prompt_stated;
  all.completion_stated = all.completion_stated && turn.completion_stated;
}

// The same for `usage` objects as JSON: numbers are added, objects member by member, of anything else the last counts.
// Text that is not an object changes nothing.
void add_usage_json(std::string& all, std::string_view turn);

}  // namespace callgate
