#include "upstream/finish_word.h"

#include <algorithm>
#include <array>

namespace callgate::upstream {
namespace {

using enum FinishReason;

struct FinishRow {
  std::string_view word;
  FinishReason reason;
};

constexpr std::array<FinishRow, 35> kFinishWords = {{
    {"stop", stop},
    {"tool_calls", tool_calls},
    {"length", length},
    {"content_filter", content_filter},
    {"function_call", tool_calls},
    {"tool_call", tool_calls},
    {"tool_use", tool_calls},
    {"function_calls", tool_calls},
    {"end_turn", stop},
    {"stop_sequence", stop},
    {"pause_turn", stop},
    {"eos", stop},
    {"eos_token", stop},
    {"stop_token", stop},
    {"end", stop},
    {"done", stop},
    {"complete", stop},
    {"completed", stop},
    {"max_tokens", length},
    {"max_output_tokens", length},
    {"max_length", length},
    {"model_length", length},
    {"token_limit", length},
    {"context_length", length},
    {"model_context_window_exceeded", length},
    {"safety", content_filter},
    {"refusal", content_filter},
    {"sensitive", content_filter},
    {"recitation", content_filter},
    {"blocklist", content_filter},
    {"prohibited_content", content_filter},
    {"error", upstream_error},
    {"network_error", upstream_error},
    {"abort", upstream_error},
    {"insufficient_system_resource", upstream_error},
}};

bool same_word(std::string_view a, std::string_view lower) {
  return std::equal(a.begin(), a.end(), lower.begin(), lower.end(), [](char x, char y) {
    return (x >= 'A' && x <= 'Z' ? static_cast<char>(x - 'A' + 'a') : x) == y;
  });
}

}  // namespace

std::optional<FinishReason> finish_reason_of(std::string_view word) {
  for (const FinishRow& row : kFinishWords) {
    if (same_word(word, row.word)) return row.reason;
  }
  return std::nullopt;
}

bool is_finish_word(std::string_view word) {
  return !word.empty() && !same_word(word, "null") && !same_word(word, "none") &&
         !same_word(word, "undefined") && !same_word(word, "finish_reason_unspecified");
}

}  // namespace callgate::upstream
