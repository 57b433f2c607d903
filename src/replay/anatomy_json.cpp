#include "base/base64.h"
#include "chat/error_word.h"
#include "json/writer.h"
#include "replay/anatomy.h"

namespace callgate::replay {
namespace {

std::string_view word_of(AnatomyPin::Kind kind) {
  switch (kind) {
    case AnatomyPin::Kind::repair:
      return "repair";
    case AnatomyPin::Kind::stayed_text:
      return "stayed_text";
    case AnatomyPin::Kind::policy:
      return "policy";
    case AnatomyPin::Kind::error:
      return "error";
  }
  return "";
}

void append_base64(json::ObjectWriter& object, std::string_view name, std::string_view bytes) {
  std::string& out = object.key(name);
  out += '"';
  base64::append_encoded(out, bytes);
  out += '"';
}

void append_event(std::string& out, const AnatomyEvent& seen) {
  const LoggedEvent& event = seen.event;
  json::ObjectWriter object(out);
  if (seen.choice > 0) object.integer("choice", seen.choice);
  const auto text = [&](std::string_view type) {
    object.string("type", type);
    object.string("text", event.text);
  };
  switch (event.kind) {
    case LoggedEvent::Kind::text:
      text("text");
      break;
    case LoggedEvent::Kind::reasoning:
      text("reasoning");
      break;
    case LoggedEvent::Kind::refusal:
      text("refusal");
      break;
    case LoggedEvent::Kind::call:
      object.string("type", "call");
      object.integer("call", event.call);
      object.string("name", event.text);
      object.string("id", event.id);
      if (seen.in_text) object.boolean("in_text", true);
      break;
    case LoggedEvent::Kind::arguments:
      object.string("type", "arguments");
      object.integer("call", event.call);
      object.string("text", event.text);
      break;
    case LoggedEvent::Kind::end:
      object.string("type", "end");
      object.integer("call", event.call);
      object.string("outcome", to_string(event.outcome));
      break;
    case LoggedEvent::Kind::field:
      object.string("type", "field");
      object.string("name", event.id);
      object.string("text", event.text);
      break;
    case LoggedEvent::Kind::usage:
      object.string("type", "usage");
      object.integer("prompt_tokens", event.usage.prompt_tokens);
      object.integer("completion_tokens", event.usage.completion_tokens);
      break;
    case LoggedEvent::Kind::finish:
      object.string("type", "finish");
      object.string("reason", to_string(event.reason));
      break;
  }
  object.close();
}

// `[` and each element, with commas between them, and `]`.
template <class List, class Append>
void append_list(std::string& out, const List& list, Append append) {
  out += '[';
  bool first = true;
  for (const auto& element : list) {
    if (!first) out += ',';
    first = false;
    append(out, element);
  }
  out += ']';
}

void append_step(std::string& out, const AnatomyStep& step) {
  json::ObjectWriter object(out);
  if (step.what != "frame") object.string("what", step.what);
  object.integer("end", static_cast<std::int64_t>(step.end));
  object.integer("t", step.time_us);
  object.integer("client_end", static_cast<std::int64_t>(step.client_end));
  if (step.held_back > 0) object.integer("held", static_cast<std::int64_t>(step.held_back));
  if (!step.events.empty()) append_list(object.key("events"), step.events, append_event);
  object.close();
}

void append_pin(std::string& out, const AnatomyPin& pin) {
  json::ObjectWriter object(out);
  object.string("kind", word_of(pin.kind));
  object.string("name", pin.name);
  if (!pin.text.empty()) object.string("text", pin.text);
  object.integer("step", static_cast<std::int64_t>(pin.step));
  object.integer("begin", static_cast<std::int64_t>(pin.begin));
  object.integer("end", static_cast<std::int64_t>(pin.end));
  object.close();
}

void append_summary(std::string& out, const TurnSummary& summary) {
  json::ObjectWriter object(out);
  object.string("finish_reason", to_string(summary.reason));
  object.integer("calls", summary.calls);
  object.integer("text_calls", summary.text_calls);
  object.integer("text_bytes", static_cast<std::int64_t>(summary.text_bytes));
  object.integer("reasoning_bytes", static_cast<std::int64_t>(summary.reasoning_bytes));
  object.integer("argument_bytes", static_cast<std::int64_t>(summary.argument_bytes));
  object.integer("frames", static_cast<std::int64_t>(summary.frames_in));
  object.integer("withheld_calls", summary.withheld_calls);
  object.integer("held_back_bytes", static_cast<std::int64_t>(summary.held_back_bytes));
  object.string("settled_on", summary.settled_on);
  object.close();
}

}  // namespace

void append_json(std::string& out, const Anatomy& anatomy) {
  json::ObjectWriter object(out);
  append_base64(object, "upstream", anatomy.upstream);
  append_base64(object, "client", anatomy.client);
  append_list(object.key("steps"), anatomy.steps, append_step);
  append_list(object.key("pins"), anatomy.pins, append_pin);
  append_summary(object.key("summary"), anatomy.summary);
  if (anatomy.error) {
    json::ObjectWriter error(object.key("error"));
    error.string("code", to_string(anatomy.error->code));
    error.string("message", anatomy.error->message);
    error.close();
  } else {
    object.null("error");
  }
  object.close();
}

}  // namespace callgate::replay
