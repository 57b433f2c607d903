#include "engine/answer_notes.h"

#include <algorithm>

#include "json/writer.h"

namespace callgate::engine {
namespace {

constexpr std::uint64_t kBytesPerToken = 4;

std::int64_t tokens_of(std::uint64_t bytes) {
  return static_cast<std::int64_t>((bytes + kBytesPerToken - 1) / kBytesPerToken);
}

}  // namespace

std::uint64_t prompt_bytes(const Request& request) {
  std::uint64_t bytes = 0;
  for (const Message& message : request.messages) {
    bytes += message.content.text.size();
    for (const CallRecord& call : message.calls) bytes += call.name.size() + call.arguments.size();
  }
  for (const ToolSpec& tool : request.tools) {
    bytes += tool.name.size() + tool.description.size() + tool.parameters.text.size();
  }
  for (const RawJson& tool : request.other_tools) bytes += tool.text.size();
  return bytes;
}

Usage estimate_usage(std::uint64_t prompt_bytes, const TurnSummary& summary) {
  Usage usage;
  usage.prompt_tokens = tokens_of(prompt_bytes);
  usage.reasoning_tokens = tokens_of(summary.reasoning_bytes);
  usage.completion_tokens =
      tokens_of(summary.text_bytes + summary.reasoning_bytes + summary.argument_bytes);
  usage.total_tokens = usage.prompt_tokens + usage.completion_tokens;
  return usage;
}

bool is_stated(const std::optional<Usage>& usage) {
  return usage && usage->prompt_stated && usage->completion_stated;
}

Usage complete_usage(std::uint64_t prompt_bytes, const TurnSummary& summary) {
  const Usage guess = estimate_usage(prompt_bytes, summary);
  if (!summary.usage) return guess;
  Usage usage = *summary.usage;
  // Of both counts the upstream may have stated the sum.
  const std::int64_t total =
      usage.prompt_stated || usage.completion_stated ? 0 : usage.total_tokens;
  if (!usage.completion_stated) {
    usage.completion_tokens = total > 0 ? std::min(guess.completion_tokens, total)  //
                                        : guess.completion_tokens;
    usage.reasoning_tokens = std::max(usage.reasoning_tokens, guess.reasoning_tokens);
  }
  if (!usage.prompt_stated) {
    usage.prompt_tokens = total > 0 ? total - usage.completion_tokens
                                    : std::max(guess.prompt_tokens, usage.cached_tokens);
  }
  usage.total_tokens = usage.prompt_tokens + usage.completion_tokens;
  usage.prompt_stated = true;
  usage.completion_stated = true;
  return usage;
}

bool has_unchecked_grammar(const Request& request) {
  const auto& aliases = request.client.aliases;
  return std::any_of(aliases.begin(), aliases.end(),
                     [](const ToolAlias& alias) { return alias.has_grammar && !alias.pattern; });
}

std::string print_counters(const TurnSummary& summary, const PolicyOptions& policy) {
  std::string text;
  json::ObjectWriter counters(text);
  counters.integer("tool_call_count", summary.calls);
  counters.boolean("tool_call_truncated", summary.withheld_calls > 0);
  counters.string("stop_after_tools_mode", to_string(policy.stop_after_tools));
  if (summary.usage_estimated) counters.string("usage", "estimated");
  counters.close();
  return text;
}

}  // namespace callgate::engine
