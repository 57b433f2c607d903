#include "script/reply/anthropic_message.h"

#include <algorithm>
#include <array>

#include "json/writer.h"
#include "script/reply/json_bytes.h"
#include "script/reply/sealed.h"

namespace callgate::script {
namespace {

void append_tool_use(std::string& out, const LoggedCall& call, const Faults& faults) {
  json::ObjectWriter block(out);
  block.string("type", "tool_use");
  if (!faults.has(Fault::no_id)) block.string("id", faults.has(Fault::empty_id) ? "" : call.id);
  block.string("name", call.name);
  append_arguments_value(block.key("input"), call.arguments);
  block.close();
}

std::string_view error_type(int status) {
  switch (status) {
    case 401:
      return "authentication_error";
    case 403:
      return "permission_error";
    case 404:
      return "not_found_error";
    case 413:
      return "request_too_large";
    case 429:
      return "rate_limit_error";
    case 504:
      return "timeout_error";
    case 529:
      return "overloaded_error";
    default:
      return status < 500 ? "invalid_request_error" : "api_error";
  }
}

}  // namespace

std::string_view stop_reason_of(FinishReason reason) {
  switch (reason) {
    case FinishReason::stop:
      return "end_turn";
    case FinishReason::tool_calls:
      return "tool_use";
    case FinishReason::length:
      return "max_tokens";
    case FinishReason::content_filter:
      return "refusal";
    case FinishReason::upstream_error:
      return "error";
  }
  return "end_turn";
}

std::string signature_of(std::string_view thinking) { return sealed("sig_", thinking); }

void append_anthropic_usage(std::string& out, const Usage& usage, std::int64_t output) {
  json::ObjectWriter object(out);
  const std::int64_t cached = usage.cached_tokens + usage.cache_write_tokens;
  object.integer("input_tokens", std::max<std::int64_t>(0, usage.prompt_tokens - cached));
  object.integer("cache_creation_input_tokens", usage.cache_write_tokens);
  object.integer("cache_read_input_tokens", usage.cached_tokens);
  object.integer("output_tokens", output);
  if (usage.reasoning_tokens > 0 && output == usage.completion_tokens) {
    json::ObjectWriter details(object.key("output_tokens_details"));
    details.integer("thinking_tokens", usage.reasoning_tokens);
    details.close();
  }
  object.close();
}

std::string stop_details(std::string_view refusal) {
  if (refusal.empty()) return "null";
  std::string out;
  json::ObjectWriter object(out);
  object.string("type", "refusal");
  object.null("category");
  append_json_bytes(object.key("explanation"), refusal);
  object.close();
  return out;
}

void append_anthropic_message(std::string& out, const ReplyIdentity& identity,
                              const AnthropicMessage& message) {
  json::ObjectWriter object(out);
  object.string("id", identity.id);
  object.string("type", "message");
  object.string("role", "assistant");
  object.string("model", identity.model);
  object.raw("content", message.content);
  object.raw("stop_reason", message.stop_reason.empty() ? "null" : message.stop_reason);
  object.null("stop_sequence");
  object.raw("stop_details", stop_details(message.refusal));
  append_anthropic_usage(object.key("usage"), message.usage, message.output);
  object.close();
}

std::string anthropic_content(const EventLog& log, const Faults& faults) {
  using Kind = LoggedEvent::Kind;
  const std::vector<LoggedCall> calls = log.calls();
  std::size_t next_call = 0;
  std::string out = "[";
  const auto separate = [&] {
    if (out.size() > 1) out.push_back(',');
  };
  for (const LoggedEvent& event : log.events()) {
    if (event.kind == Kind::text) {
      separate();
      append_json_bytes(out += R"({"type":"text","text":)", event.text);
      out += R"(,"citations":null})";
    } else if (event.kind == Kind::reasoning) {
      separate();
      append_json_bytes(out += R"({"type":"thinking","thinking":)", event.text);
      out += R"(,"signature":")" + signature_of(event.text) + "\"}";
    } else if (event.kind == Kind::call && next_call < calls.size()) {
      separate();
      append_tool_use(out, calls[next_call++], faults);
    }
  }
  out.push_back(']');
  return out;
}

std::string anthropic_error(int status, std::string_view message) {
  std::string out;
  json::ObjectWriter object(out);
  object.string("type", "error");
  json::ObjectWriter error(object.key("error"));
  error.string("type", error_type(status));
  error.string("message", message);
  error.close();
  object.string("request_id", "req_scripted");
  object.close();
  return out;
}

}  // namespace callgate::script
