// What callgate itself says at the end of an answer: an estimate of tokens, counters.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "callgate/pipeline.h"

namespace callgate::engine {

// Bytes of the request that become prompt tokens: what messages and tools say.
std::uint64_t prompt_bytes(const Request& request);

// Four bytes are about one token, in English as in Chinese.
Usage estimate_usage(std::uint64_t prompt_bytes, const TurnSummary& summary);

// Whether the upstream stated all counts that a client is owed.
bool is_stated(const std::optional<Usage>& usage);
// `summary.usage` with an estimate of each count that the upstream did not state.
Usage complete_usage(std::uint64_t prompt_bytes, const TurnSummary& summary);

// Whether a custom tool has a grammar that nobody checks.
bool has_unchecked_grammar(const Request& request);
// What a client is told when a model wrote something else.
inline constexpr std::string_view kGrammarBroken =
    "the input of a custom tool does not match its grammar";

// {"tool_call_count":1,"tool_call_truncated":false,"stop_after_tools_mode":"burst"}
std::string print_counters(const TurnSummary& summary, const PolicyOptions& policy);

}  // namespace callgate::engine
