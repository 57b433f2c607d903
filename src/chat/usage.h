// Token counts of several turns together.
#pragma once

#include "callgate/event.h"

namespace callgate {

inline void add_usage(Usage& all, const Usage& turn) {
  all.prompt_tokens += turn.prompt_tokens;
  all.completion_tokens += turn.completion_tokens;
  all.total_tokens += turn.total_tokens;
  all.cached_tokens += turn.cached_tokens;
  all.cache_write_tokens += turn.cache_write_tokens;
  all.reasoning_tokens += turn.reasoning_tokens;
}

}  // namespace callgate
