#include "script/reply/openai_chat_message.h"

#include "json/writer.h"
#include "script/reply/json_bytes.h"
#include "script/reply/openai_chat_call.h"

namespace callgate::script {
namespace {

using json::ObjectWriter;

void add_text(ObjectWriter& object, std::string_view text, const Faults& faults) {
  if (!faults.has(Fault::content_array)) {
    append_json_bytes(object.key("content"), text);
    return;
  }
  std::string& array = object.key("content") += R"([{"type":"text","text":)";
  append_json_bytes(array, text);
  array += "}]";
}

void add_reasoning(ObjectWriter& object, std::string_view text, const Faults& faults) {
  const bool both = faults.has(Fault::both_reasoning_fields);
  const bool other = faults.has(Fault::reasoning_field);
  if (both || !other) append_json_bytes(object.key("reasoning_content"), text);
  if (both || other) append_json_bytes(object.key("reasoning"), text);
}

void add_calls(ObjectWriter& object, const std::vector<LoggedCall>& calls, const Faults& faults) {
  std::string& array = object.key("tool_calls") += "[";
  for (const LoggedCall& call : calls) {
    if (&call != &calls.front()) array.push_back(',');
    append_call_delta(
        array, {.streamed = false, .id = call.id, .name = call.name, .arguments = call.arguments},
        faults);
  }
  array.push_back(']');
}

}  // namespace

std::string said_delta(const Event& event, const Faults& faults) {
  std::string out;
  ObjectWriter object(out);
  if (faults.has(Fault::repeat_role)) object.string("role", "assistant");
  if (const auto* text = std::get_if<TextDelta>(&event)) {
    add_text(object, text->text, faults);
    if (faults.has(Fault::empty_calls)) object.raw("tool_calls", "[]");
  } else if (const auto* reasoning = std::get_if<ReasoningDelta>(&event)) {
    add_reasoning(object, reasoning->text, faults);
  } else {
    append_json_bytes(object.key("refusal"), std::get<RefusalDelta>(event).text);
  }
  object.close();
  return out;
}

void append_message(std::string& out, const EventLog& log, bool legacy, const Faults& faults) {
  ObjectWriter object(out);
  if (!faults.has(Fault::no_role)) object.string("role", "assistant");
  const std::string text = log.text();
  const std::string refusal = log.refusal();
  const std::string reasoning = log.reasoning();
  const std::vector<LoggedCall> calls = log.calls();
  if (text.empty() && !calls.empty()) {
    object.null("content");
  } else {
    add_text(object, text, faults);
  }
  if (refusal.empty()) {
    object.null("refusal");
  } else {
    append_json_bytes(object.key("refusal"), refusal);
  }
  if (!reasoning.empty()) add_reasoning(object, reasoning, faults);
  if (!calls.empty() && legacy) {
    append_function(object.key("function_call"),
                    {.name = calls.front().name, .arguments = calls.front().arguments}, faults);
  } else if (!calls.empty()) {
    add_calls(object, calls, faults);
  }
  object.close();
}

}  // namespace callgate::script
