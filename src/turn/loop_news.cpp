#include "turn/loop_news.h"

#include "json/writer.h"

namespace callgate::server {

std::string print_news(const loop::ToolCallNotice& call) {
  std::string json;
  json::ObjectWriter object(json);
  object.string("type", "callgate.tool_call");
  object.integer("round", call.round);
  object.string("id", call.call_id);
  object.string("name", call.name);
  object.string("arguments", call.arguments);
  object.close();
  return json;
}

std::string print_news(const loop::ToolResultNotice& result) {
  std::string json;
  json::ObjectWriter object(json);
  object.string("type", "callgate.tool_result");
  object.integer("round", result.round);
  object.string("id", result.call_id);
  object.string("name", result.name);
  object.string("preview", result.preview);
  object.boolean("is_error", result.is_error);
  object.integer("bytes", static_cast<std::int64_t>(result.bytes));
  object.integer("duration_ms", result.duration);
  object.close();
  return json;
}

std::string print_news(const loop::WaitForApproval& wait, std::string_view loop_id) {
  std::string json;
  json::ObjectWriter object(json);
  object.string("type", "callgate.approval_required");
  object.string("loop", loop_id);
  object.integer("run", wait.run);
  object.string("id", wait.call_id);
  object.string("name", wait.name);
  object.string("arguments", wait.arguments);
  object.close();
  return json;
}

std::string print_news(const loop::LoopEnded& ended, std::string_view loop_id,
                       std::string_view events) {
  std::string json;
  json::ObjectWriter object(json);
  object.string("loop", loop_id);
  if (ended.end) {
    object.string("end_reason", loop::to_string(*ended.end));
  } else {
    object.null("end_reason");
  }
  object.integer("rounds", ended.rounds);
  object.integer("calls", ended.calls_made);
  if (!events.empty()) object.key("events").append("[").append(events).append("]");
  object.close();
  return json;
}

}  // namespace callgate::server
