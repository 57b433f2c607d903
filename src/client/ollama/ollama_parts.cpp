#include "client/ollama/ollama_parts.h"

#include "client/answer_parts.h"
#include "json/member.h"
#include "json/reader.h"

namespace callgate::client {
namespace {

// A turn with calls ends with `stop` as well. The others are what the API and its clients know.
std::string_view ollama_done_reason(FinishReason reason) {
  switch (reason) {
    case FinishReason::stop:
    case FinishReason::tool_calls:
    case FinishReason::upstream_error:
      return "stop";
    case FinishReason::length:
      return "length";
    case FinishReason::content_filter:
      return "content_filter";
  }
  return {};
}

}  // namespace

void append_ollama_call(std::string& out, const OpenCall& call) {
  json::ObjectWriter object(out);
  object.string("id", call.id);
  json::ObjectWriter function(object.key("function"));
  function.integer("index", call.index);
  function.string("name", call.name);
  append_arguments_line(function.key("arguments"), call.arguments);
  function.close();
  append_fold(object, call.fields);
  object.close();
}

void append_ollama_logprobs(std::string& elements, std::string_view json) {
  const auto more = array_elements(json::given_member(json, "content"));
  if (more.empty()) return;
  if (!elements.empty()) elements.push_back(',');
  append_json_line(elements, more);
}

void OllamaEnd::append_to(json::ObjectWriter& object, const AnswerEnd& end) const {
  constexpr std::int64_t kNanoseconds = 1'000'000;
  object.boolean("done", true);
  if (reason) object.string("done_reason", ollama_done_reason(*reason));
  bool timed = false;
  fields.each(
      [&](std::string_view name, std::string_view) { timed = timed || name == "total_duration"; });
  if (end.timing && !timed) {
    object.integer("total_duration", end.timing->duration_ms * kNanoseconds);
    object.integer("prompt_eval_duration", end.timing->first_token_ms * kNanoseconds);
    object.integer("eval_duration",
                   (end.timing->duration_ms - end.timing->first_token_ms) * kNanoseconds);
  }
  const std::optional<Usage>& counts = end.estimate ? end.estimate : usage;
  if (counts) {
    object.integer("prompt_eval_count", counts->prompt_tokens);
    object.integer("eval_count", counts->completion_tokens);
  }
  if (end.estimate) object.boolean("estimated", true);
  append_fold(object, fields);
}

}  // namespace callgate::client
