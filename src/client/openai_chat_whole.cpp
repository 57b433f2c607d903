// The whole Chat Completions answer: the same events as a stream, folded.
#include <algorithm>
#include <optional>
#include <utility>

#include "base/check.h"
#include "chat/event_log.h"
#include "client/openai_chat.h"
#include "client/openai_usage.h"
#include "json/reader.h"
#include "json/writer.h"

namespace callgate::client {
namespace {

using Kind = LoggedEvent::Kind;

// The elements of an array without its brackets, empty when it is no array or has none.
std::string_view elements_of(std::string_view json) {
  if (json.size() < 2 || json.front() != '[') return {};
  const std::string_view inner = json.substr(1, json.size() - 2);
  return inner.find_first_not_of(" \t\r\n") == std::string_view::npos ? std::string_view() : inner;
}

// {"content":[a],"refusal":null} and {"content":[b]} -> {"content":[a,b],"refusal":null}
class Logprobs {
 public:
  void add(std::string_view json) {
    json::Reader in(json);
    if (in.peek() != json::Kind::object) return;
    any_ = true;
    for (std::string_view key; in.next_member(key);) {
      std::string* list = key == "content" ? &content_ : key == "refusal" ? &refusal_ : nullptr;
      const std::string_view elements = elements_of(in.raw());
      if (list == nullptr || elements.empty()) continue;
      if (!list->empty()) list->push_back(',');
      append_json_line(*list, elements);
    }
  }

  void append_to(std::string& out) const {
    if (!any_) {
      out.append("null");
      return;
    }
    json::ObjectWriter object(out);
    list(object, "content", content_);
    list(object, "refusal", refusal_);
    object.close();
  }

 private:
  static void list(json::ObjectWriter& object, std::string_view name, const std::string& elements) {
    if (elements.empty()) return object.null(name);
    object.key(name).append("[").append(elements).append("]");
  }

  bool any_ = false;
  std::string content_;
  std::string refusal_;
};

void append_call(std::string& out, const LoggedCall& call) {
  json::ObjectWriter object(out);
  object.string("id", call.id);
  object.string("type", "function");
  json::ObjectWriter function(object.key("function"));
  function.string("name", call.name);
  function.string("arguments", call.arguments);
  function.close();
  object.close();
}

void append_calls(json::ObjectWriter& message, const std::vector<LoggedCall>& calls, bool legacy) {
  if (calls.empty()) return;
  if (legacy) {
    json::ObjectWriter function(message.key("function_call"));
    function.string("name", calls.front().name);
    function.string("arguments", calls.front().arguments);
    function.close();
    return;
  }
  std::string& out = message.key("tool_calls");
  char separator = '[';
  for (const LoggedCall& call : calls) {
    out.push_back(std::exchange(separator, ','));
    append_call(out, call);
  }
  out.push_back(']');
}

// Fields whose elements came in several reports, each written once, where it was first seen.
void append_message_fields(json::ObjectWriter& message, const EventLog& log) {
  const auto is_field = [](const LoggedEvent& event) {
    return event.kind == Kind::field && event.scope == FieldReported::Scope::message;
  };
  std::vector<std::string_view> written;
  for (const LoggedEvent& event : log.events()) {
    if (!is_field(event) || std::find(written.begin(), written.end(), event.id) != written.end()) {
      continue;
    }
    written.push_back(event.id);
    std::string& out = message.key(event.id);
    out.push_back('[');
    for (const LoggedEvent& other : log.events()) {
      if (!is_field(other) || other.id != event.id) continue;
      const std::string_view elements = elements_of(other.text);
      if (elements.empty()) continue;
      if (out.back() != '[') out.push_back(',');
      append_json_line(out, elements);
    }
    out.push_back(']');
  }
}

void append_message(std::string& out, const EventLog& log, bool legacy,
                    std::string_view reasoning_field) {
  const std::string text = log.text();
  const std::string reasoning = log.reasoning();
  const std::string refusal = log.refusal();
  const std::vector<LoggedCall> calls = log.calls();
  json::ObjectWriter message(out);
  message.string("role", "assistant");
  if (text.empty() && (!calls.empty() || !refusal.empty())) {
    message.null("content");
  } else {
    message.string("content", text);
  }
  if (!reasoning.empty()) message.string(reasoning_field, reasoning);
  if (refusal.empty()) {
    message.null("refusal");
  } else {
    message.string("refusal", refusal);
  }
  append_calls(message, calls, legacy);
  append_message_fields(message, log);
  message.close();
}

void append_choice(std::string& out, std::uint32_t index, const EventLog& log, bool legacy,
                   std::string_view reasoning_field) {
  Logprobs logprobs;
  for (const LoggedEvent& event : log.events()) {
    const bool of_choice = event.scope == FieldReported::Scope::choice;
    if (event.kind == Kind::field && of_choice && event.id == "logprobs") logprobs.add(event.text);
  }
  const std::optional<FinishReason> reason = log.reason();
  json::ObjectWriter choice(out);
  choice.integer("index", index);
  append_message(choice.key("message"), log, legacy, reasoning_field);
  logprobs.append_to(choice.key("logprobs"));
  if (reason) {
    choice.string("finish_reason", openai_finish_word(*reason, legacy));
  } else {
    choice.null("finish_reason");
  }
  choice.close();
}

class OpenaiWhole final : public ResponseEncoder {
 public:
  OpenaiWhole(const Request& request, const ResponseIdentity& identity)
      : identity_(identity), legacy_(request.legacy_functions), choices_(request.choices) {}

  EventSink& choice(std::uint32_t index) override { return choices_[index]; }
  void bind(std::string& out) override { out_ = &out; }

  void finish(const AnswerEnd& end) override {
    CALLGATE_CHECK(out_ != nullptr);
    json::ObjectWriter answer(*out_);
    answer.string("id", identity_.id);
    answer.string("object", "chat.completion");
    answer.integer("created", identity_.created);
    answer.string("model", identity_.model);
    append_turn_fields(answer);
    append_choices(answer.key("choices"));
    std::optional<Usage> usage;
    for (const EventLog& log : choices_) {
      if (!usage) usage = log.usage();
    }
    if (usage || end.estimate) append_openai_usage(answer.key("usage"), usage, end);
    answer.close();
  }

  void note(std::string_view, std::string_view) override {}

  void fail(const Error& error) override {
    CALLGATE_CHECK(out_ != nullptr);
    out_->append(openai_error_body(error));
  }

 private:
  // The last report of each field counts.
  void append_turn_fields(json::ObjectWriter& answer) const {
    for (const std::string_view name : {"service_tier", "system_fingerprint", "callgate"}) {
      std::string_view json;
      for (const LoggedEvent& event : choices_.front().events()) {
        if (event.kind == Kind::field && event.id == name) json = event.text;
      }
      if (!json.empty()) append_json_line(answer.key(name), json);
    }
  }

  // A choice that the upstream never mentioned is left out.
  void append_choices(std::string& out) const {
    char separator = '[';
    for (std::uint32_t i = 0; i < choices_.size(); ++i) {
      if (choices_[i].events().empty()) continue;
      out.push_back(std::exchange(separator, ','));
      append_choice(out, i, choices_[i], legacy_, identity_.reasoning_field);
    }
    if (separator == '[') out.push_back('[');
    out.push_back(']');
  }

  ResponseIdentity identity_;
  bool legacy_;
  std::vector<EventLog> choices_;
  std::string* out_ = nullptr;
};

}  // namespace

std::unique_ptr<ResponseEncoder> make_openai_whole(const Request& request,
                                                   const ResponseIdentity& identity) {
  return std::make_unique<OpenaiWhole>(request, identity);
}

}  // namespace callgate::client
