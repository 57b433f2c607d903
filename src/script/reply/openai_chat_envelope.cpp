#include "script/reply/openai_chat_envelope.h"

#include <algorithm>

#include "json/writer.h"

namespace callgate::script {

// Everything before `choices`, its comma included.
std::string ChatEnvelope::head() {
  ++frames_;
  if (faults_.has(Fault::minimal_frame)) return "{";
  std::string out;
  json::ObjectWriter object(out);
  if (!faults_.has(Fault::no_frame_id)) {
    const bool changes = faults_.has(Fault::change_frame_id);
    object.string("id", changes ? identity_.id + "-" + std::to_string(frames_) : identity_.id);
  }
  object.string("object", "chat.completion.chunk");
  object.integer("created", identity_.created);
  object.string("model", identity_.model);
  out.push_back(',');
  return out;
}

void ChatEnvelope::append_delta(std::string& out, std::string_view delta, bool finishes) const {
  if (finishes && faults_.has(Fault::no_delta)) return;
  out += faults_.has(Fault::message_for_delta) ? "\"message\":" : "\"delta\":";
  out += finishes && faults_.has(Fault::null_delta) ? "null" : delta;
}

void ChatEnvelope::append_finish(std::string& out, std::string_view finish) const {
  if (finish.empty() && faults_.has(Fault::no_finish_key)) return;
  if (out.back() != '{') out.push_back(',');
  out += "\"finish_reason\":";
  if (!finish.empty()) {
    out += finish;
  } else if (faults_.has(Fault::finish_null)) {
    out += "\"null\"";
  } else {
    out += faults_.has(Fault::empty_finish) ? "\"\"" : "null";
  }
}

std::string ChatEnvelope::usage_json(const Usage& usage) const {
  const auto number = [&](json::ObjectWriter& object, std::string_view name, std::int64_t value) {
    if (faults_.has(Fault::usage_strings)) {
      object.string(name, std::to_string(value));
    } else {
      object.integer(name, value);
    }
  };
  const bool other_names = faults_.has(Fault::usage_anthropic_names);
  std::string out;
  json::ObjectWriter object(out);
  number(object, other_names ? "input_tokens" : "prompt_tokens", usage.prompt_tokens);
  number(object, other_names ? "output_tokens" : "completion_tokens", usage.completion_tokens);
  if (!other_names) {
    number(object, "total_tokens", usage.total_tokens);
    json::ObjectWriter prompt(object.key("prompt_tokens_details"));
    number(prompt, "cached_tokens", usage.cached_tokens);
    if (usage.cache_write_tokens != 0) {
      number(prompt, "cache_write_tokens", usage.cache_write_tokens);
    }
    prompt.close();
    json::ObjectWriter completion(object.key("completion_tokens_details"));
    number(completion, "reasoning_tokens", usage.reasoning_tokens);
    completion.close();
  }
  object.close();
  return out;
}

void ChatEnvelope::append_frame_usage(std::string& out, bool finishes) const {
  if (faults_.has(Fault::usage_every_frame)) {
    // Counts that grow, as servers that report them all the time have them.
    Usage so_far = usage_;
    if (!finishes) so_far.completion_tokens = std::min(frames_ - 1, usage_.completion_tokens);
    so_far.total_tokens = so_far.prompt_tokens + so_far.completion_tokens;
    out.append(",\"usage\":").append(usage_json(so_far));
  } else if (finishes && faults_.has(Fault::usage_on_finish)) {
    out.append(",\"usage\":").append(usage_json(usage_));
  } else if (identity_.include_usage || faults_.has(Fault::usage_null)) {
    out += ",\"usage\":null";
  }
}

std::string ChatEnvelope::frame(std::uint32_t choice, std::string_view delta,
                                std::string_view finish) {
  std::string out = head();
  out += "\"choices\":[{";
  if (!faults_.has(Fault::no_choice_index)) {
    out += "\"index\":";
    json::append_integer(out, faults_.has(Fault::choice_index_one) ? choice + 1 : choice);
    if (finish.empty() || !faults_.has(Fault::no_delta)) out.push_back(',');
  }
  append_delta(out, delta, !finish.empty());
  append_finish(out, finish);
  out += "}]";
  append_frame_usage(out, !finish.empty());
  out.push_back('}');
  return out;
}

std::string ChatEnvelope::empty_choices_frame() { return head() + "\"choices\":[]}"; }

std::string ChatEnvelope::usage_frame() {
  std::string out = head();
  if (faults_.has(Fault::usage_null_choices)) {
    out += "\"choices\":null,";
  } else if (!faults_.has(Fault::usage_no_choices)) {
    out += "\"choices\":[],";
  }
  return out.append("\"usage\":").append(usage_json(usage_)).append("}");
}

std::string ChatEnvelope::error_in_choice_frame(std::string_view error) {
  return head()
      .append("\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\"},\"finish_reason\":\"error\",")
      .append("\"error\":")
      .append(error)
      .append("}]}");
}

std::string ChatEnvelope::body(std::string_view choices) const {
  std::string out;
  json::ObjectWriter object(out);
  if (!faults_.has(Fault::minimal_frame)) {
    if (!faults_.has(Fault::no_frame_id)) object.string("id", identity_.id);
    object.string("object", "chat.completion");
    object.integer("created", identity_.created);
    object.string("model", identity_.model);
  }
  object.raw("choices", choices);
  if (!faults_.has(Fault::no_usage)) object.raw("usage", usage_json(usage_));
  object.close();
  return out;
}

std::string openai_error_body(int status, std::string_view message) {
  std::string_view type = "server_error";
  if (status < 500) type = status == 429 ? "rate_limit_exceeded" : "invalid_request_error";
  std::string out = "{\"error\":";
  json::ObjectWriter object(out);
  object.string("message", message);
  object.string("type", type);
  object.null("param");
  object.null("code");
  object.close();
  out.push_back('}');
  return out;
}

}  // namespace callgate::script
