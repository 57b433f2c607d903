#include "client/anthropic_messages/messages_usage.h"

#include <algorithm>
#include <array>

#include "client/answer_parts.h"
#include "client/openai_chat/openai_usage.h"
#include "json/member.h"
#include "json/reader.h"
#include "json/writer.h"

namespace callgate::client {
namespace {

// Input without what was read from or written to the cache, unlike OpenAI's.
void append_counts(json::ObjectWriter& object, const Usage& usage, std::int64_t output) {
  const std::int64_t cached = usage.cached_tokens + usage.cache_write_tokens;
  object.integer("input_tokens", std::max<std::int64_t>(usage.prompt_tokens - cached, 0));
  object.integer("cache_creation_input_tokens", usage.cache_write_tokens);
  object.integer("cache_read_input_tokens", usage.cached_tokens);
  object.integer("output_tokens", output);
}

bool is_counted(std::string_view name) {
  static constexpr std::array<std::string_view, 5> kNames = {
      "input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens",
      "output_tokens_details"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

// Members of the upstream's own object that callgate does not write.
void append_others(json::ObjectWriter& object, std::string_view json) {
  json::Reader in(json);
  if (json.empty() || in.peek() != json::Kind::object) return;
  for (std::string_view key; in.next_member(key);) {
    const std::string name(key);
    const std::string_view value = in.raw();
    if (is_counted(name)) continue;
    std::string line;
    append_json_line(line, value);
    object.raw_escaped(name, line);
  }
}

}  // namespace

// The object of another schema has nothing that this one knows.
void MessagesUsage::set(const UsageReported& event) {
  counts_ = event.usage;
  const bool same = event.json.find("put_tokens\"") != std::string_view::npos &&
                    json::member_json(event.json, "prompt_tokens").empty() &&
                    json::member_json(event.json, "completion_tokens").empty();
  json_ = same ? event.json : std::string_view();
}

void MessagesUsage::append_start(std::string& out, std::int64_t prompt) const {
  json::ObjectWriter object(out);
  Usage usage = counts_.value_or(Usage{});
  if (!is_known()) usage.prompt_tokens = prompt;
  append_counts(object, usage, 0);
  append_others(object, json_);
  object.close();
}

void MessagesUsage::append_end(std::string& out, const AnswerEnd& end) const {
  const Usage usage = end.estimate ? *end.estimate : counts_.value_or(Usage{});
  json::ObjectWriter object(out);
  append_counts(object, usage, usage.completion_tokens);
  if (usage.reasoning_tokens > 0) {
    json::ObjectWriter details(object.key("output_tokens_details"));
    details.integer("thinking_tokens", usage.reasoning_tokens);
    details.close();
  }
  append_others(object, json_);
  if (!tier_.empty() && json::member_json(json_, "service_tier").empty()) {
    object.raw("service_tier", tier_);
  }
  if (end.estimate) object.boolean("estimated", true);
  if (end.timing) {
    object.integer("time_to_first_token_ms", end.timing->first_token_ms);
    object.integer("total_duration_ms", end.timing->duration_ms);
    object.string("emission_trigger", end.timing->trigger);
  }
  object.close();
}

std::string_view messages_stop_word(FinishReason reason) {
  switch (reason) {
    case FinishReason::stop:
    case FinishReason::upstream_error:
      return "end_turn";
    case FinishReason::tool_calls:
      return "tool_use";
    case FinishReason::length:
      return "max_tokens";
    case FinishReason::content_filter:
      return "refusal";
  }
  return {};
}

}  // namespace callgate::client
