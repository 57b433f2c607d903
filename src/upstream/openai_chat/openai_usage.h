// The `usage` object of a Chat Completions answer, and other names for the same counts:
//
//   {"prompt_tokens":9,"completion_tokens":5,"total_tokens":14,"prompt_tokens_details":{"cached_tokens":4}}
//   {"input_tokens":9,"output_tokens":5,"output_tokens_details":{"reasoning_tokens":4}}
//   {"inputTokens":9,"cachedInputTokens":4,"outputTokens":5,"totalTokens":14}
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "callgate/event.h"
#include "json/reader.h"

namespace callgate::upstream {

// The counts that an upstream states, as a Usage. One that is missing follows from the other two, where those are known.
// `usage` has the details already.
void set_counts(Usage& usage, std::optional<std::int64_t> prompt,
                std::optional<std::int64_t> completion, std::optional<std::int64_t> total);

// Nothing for an object without a member. REQUIRES: an object comes next.
std::optional<Usage> read_openai_usage(json::Reader& in);
// Nothing for anything but an object that states a count of the prompt, of the answer, or of both together.
std::optional<Usage> read_stated_usage(std::string_view json);

}  // namespace callgate::upstream
