#include "script/reply/responses_item.h"

#include "json/writer.h"
#include "script/reply/json_bytes.h"
#include "script/reply/sealed.h"

namespace callgate::script {
namespace {

void append_call_item(json::ObjectWriter& object, const ReplyItem& item, bool done,
                      const Faults& faults) {
  if (!faults.has(Fault::no_id)) {
    object.string("call_id", faults.has(Fault::empty_id) ? "" : item.call_id);
  }
  if (!faults.has(Fault::no_name)) object.string("name", item.name);
  std::string& out = object.key("arguments");
  if (done && faults.has(Fault::object_arguments)) {
    out += item.text.empty() ? "{}" : item.text;
  } else {
    append_json_bytes(out, done ? std::string_view(item.text) : std::string_view());
  }
}

void append_usage(std::string& out, const Usage& usage) {
  json::ObjectWriter object(out);
  object.integer("input_tokens", usage.prompt_tokens);
  json::ObjectWriter input(object.key("input_tokens_details"));
  input.integer("cached_tokens", usage.cached_tokens);
  input.integer("cache_write_tokens", usage.cache_write_tokens);
  input.close();
  object.integer("output_tokens", usage.completion_tokens);
  json::ObjectWriter output(object.key("output_tokens_details"));
  output.integer("reasoning_tokens", usage.reasoning_tokens);
  output.close();
  object.integer("total_tokens", usage.total_tokens);
  object.close();
}

std::string item_json(const ReplyItem& item, bool done, const Faults& faults) {
  std::string out;
  json::ObjectWriter object(out);
  object.string("id", item.id);
  const std::string_view status = done ? "completed" : "in_progress";
  switch (item.kind) {
    case ReplyItem::Kind::message:
    case ReplyItem::Kind::refusal:
      object.string("type", "message");
      object.string("status", status);
      object.string("role", "assistant");
      object.raw("content", done ? "[" + part_of(item, item.text) + "]" : "[]");
      break;
    case ReplyItem::Kind::reasoning:
      object.string("type", "reasoning");
      object.raw("summary", done ? "[" + part_of(item, item.text) + "]" : "[]");
      if (done) object.string("encrypted_content", sealed("enc_", item.text));
      break;
    case ReplyItem::Kind::call:
      object.string("type", "function_call");
      object.string("status", status);
      append_call_item(object, item, done, faults);
      break;
  }
  object.close();
  return out;
}

}  // namespace

std::string_view prefix_of(ReplyItem::Kind kind) {
  switch (kind) {
    case ReplyItem::Kind::message:
    case ReplyItem::Kind::refusal:
      return "msg_";
    case ReplyItem::Kind::reasoning:
      return "rs_";
    case ReplyItem::Kind::call:
      return "fc_";
  }
  return {};
}

std::string started_item(const ReplyItem& item, const Faults& faults) {
  return item_json(item, false, faults);
}

std::string finished_item(const ReplyItem& item, const Faults& faults) {
  return item_json(item, true, faults);
}

std::string part_of(const ReplyItem& item, std::string_view text) {
  std::string out;
  json::ObjectWriter part(out);
  switch (item.kind) {
    case ReplyItem::Kind::message:
      part.string("type", "output_text");
      part.raw("annotations", "[]");
      part.raw("logprobs", "[]");
      append_json_bytes(part.key("text"), text);
      break;
    case ReplyItem::Kind::refusal:
      part.string("type", "refusal");
      append_json_bytes(part.key("refusal"), text);
      break;
    case ReplyItem::Kind::reasoning:
      part.string("type", "summary_text");
      append_json_bytes(part.key("text"), text);
      break;
    case ReplyItem::Kind::call:
      break;
  }
  part.close();
  return out;
}

std::string response_object(const ReplyIdentity& identity, const ReplyState& state) {
  std::string out;
  json::ObjectWriter object(out);
  object.string("id", identity.id);
  object.string("object", "response");
  object.integer("created_at", identity.created);
  object.string("status", state.status);
  object.raw("error", state.error.empty() ? "null" : state.error);
  if (state.incomplete.empty()) {
    object.null("incomplete_details");
  } else {
    json::ObjectWriter details(object.key("incomplete_details"));
    details.string("reason", state.incomplete);
    details.close();
  }
  object.null("instructions");
  object.raw("metadata", "{}");
  object.string("model", identity.model);
  object.key("output").append("[").append(state.output).append("]");
  object.boolean("parallel_tool_calls", true);
  object.null("temperature");
  object.string("tool_choice", "auto");
  object.raw("tools", "[]");
  object.null("top_p");
  if (state.usage != nullptr) append_usage(object.key("usage"), *state.usage);
  object.close();
  return out;
}

}  // namespace callgate::script
