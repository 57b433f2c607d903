#include "client/openai_usage.h"

#include <algorithm>

#include "json/writer.h"

namespace callgate::client {

void append_openai_usage(std::string& out, const std::optional<Usage>& told, const AnswerEnd& end) {
  const Usage& usage = told ? *told : *end.estimate;
  json::ObjectWriter object(out);
  object.integer("prompt_tokens", usage.prompt_tokens);
  object.integer("completion_tokens", usage.completion_tokens);
  object.integer("total_tokens", usage.total_tokens);
  if (usage.cached_tokens != 0 || usage.cache_write_tokens != 0) {
    json::ObjectWriter details(object.key("prompt_tokens_details"));
    details.integer("cached_tokens", usage.cached_tokens);
    if (usage.cache_write_tokens != 0) {
      details.integer("cache_write_tokens", usage.cache_write_tokens);
    }
    details.close();
  }
  if (usage.reasoning_tokens != 0) {
    json::ObjectWriter details(object.key("completion_tokens_details"));
    details.integer("reasoning_tokens", usage.reasoning_tokens);
    details.close();
  }
  if (!told) object.boolean("estimated", true);
  if (end.timing) {
    object.integer("time_to_first_token_ms", end.timing->first_token_ms);
    object.integer("total_duration_ms", end.timing->duration_ms);
  }
  object.close();
}

std::string_view openai_finish_word(FinishReason reason, bool legacy) {
  switch (reason) {
    case FinishReason::stop:
      return "stop";
    case FinishReason::tool_calls:
      return legacy ? "function_call" : "tool_calls";
    case FinishReason::length:
      return "length";
    case FinishReason::content_filter:
      return "content_filter";
    case FinishReason::upstream_error:
      return "stop";
  }
  return {};
}

void append_json_line(std::string& out, std::string_view json) {
  for (std::size_t at = 0; at < json.size();) {
    const std::size_t end = std::min(json.find_first_of("\r\n", at), json.size());
    out.append(json.substr(at, end - at));
    at = end + 1;
  }
}

}  // namespace callgate::client
