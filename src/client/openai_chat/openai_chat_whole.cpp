// The whole Chat Completions answer: the same events as a stream, folded.
#include <algorithm>
#include <optional>
#include <utility>

#include "base/check.h"
#include "chat/event_log.h"
#include "chat/message_json.h"
#include "client/answer_parts.h"
#include "client/openai_chat/openai_chat.h"
#include "client/openai_chat/openai_usage.h"
#include "json/reader.h"
#include "json/writer.h"

namespace callgate::client {
namespace {

using Kind = LoggedEvent::Kind;

// The elements of an array without its brackets, empty when it is not an array or has none.
std::string_view elements_of(std::string_view json) {
  if (json.size() < 2 || json.front() != '[') return {};
  const std::string_view inner = json.substr(1, json.size() - 2);
  return inner.find_first_not_of(" \t\r\n") == std::string_view::npos ? std::string_view() : inner;
}

// {"content":[a]} -> {"content":[a],"refusal":null}
class Logprobs {
 public:
  explicit Logprobs(std::string_view json) {
    json::Reader in(json);
    if (json.empty() || in.peek() != json::Kind::object) return;
    any_ = true;
    for (std::string_view key; in.next_member(key);) {
      std::string* list = key == "content" ? &content_ : key == "refusal" ? &refusal_ : nullptr;
      const std::string_view elements = elements_of(in.raw());
      if (list != nullptr) append_json_line(*list, elements);
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

void append_field(json::ObjectWriter& object, std::string_view name, std::string_view json) {
  std::string line;
  append_json_line(line, json);
  object.raw_escaped(name, line);
}

void append_fields(json::ObjectWriter& object, const FieldFold& fields) {
  fields.each(
      [&](std::string_view name, std::string_view json) { append_field(object, name, json); });
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
  append_list(out, calls, [&](const LoggedCall& call) {
    append_call(out, call.id, call.name, call.arguments,
                [&](json::ObjectWriter& object) { append_fields(object, call.fields); });
  });
}

// What a choice said, with its fields apart.
class WholeChoice final : public EventSink {
 public:
  void accept(const Event& event) override {
    if (const auto* usage = std::get_if<UsageReported>(&event)) return told.set(*usage);
    const auto* field = std::get_if<FieldReported>(&event);
    if (field == nullptr) return log.accept(event);
    switch (field->scope) {
      case FieldReported::Scope::choice:
        return choice.add(field->scope, field->name, field->json);
      case FieldReported::Scope::turn:
        return turn.add(field->scope, field->name, field->json);
      case FieldReported::Scope::message:
        return message.add(field->scope, field->name, field->json);
      case FieldReported::Scope::call:
        return log.accept(event);
    }
  }

  // The upstream said something about it.
  bool mentioned() const {
    return !log.events().empty() || told.counts || !turn.empty() || !choice.empty() ||
           !message.empty();
  }

  EventLog log;
  FieldFold turn;
  FieldFold choice;
  FieldFold message;
  ToldUsage told;
};

void append_message(std::string& out, const WholeChoice& said, bool legacy,
                    std::string_view reasoning_field) {
  const EventLog& log = said.log;
  std::string joined_text;
  std::string joined_reasoning;
  std::string joined_refusal;
  const std::string_view text = log.joined(Kind::text, joined_text);
  const std::string_view reasoning = log.joined(Kind::reasoning, joined_reasoning);
  const std::string_view refusal = log.joined(Kind::refusal, joined_refusal);
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
  append_fields(message, said.message);
  message.close();
}

void append_choice(std::string& out, std::uint32_t index, const WholeChoice& said, bool legacy,
                   std::string_view reasoning_field) {
  std::string logprobs;
  said.choice.each([&](std::string_view name, std::string_view json) {
    if (name == "logprobs") logprobs = json;
  });
  const std::optional<FinishReason> reason = said.log.reason();
  json::ObjectWriter choice(out);
  choice.integer("index", index);
  append_message(choice.key("message"), said, legacy, reasoning_field);
  Logprobs(logprobs).append_to(choice.key("logprobs"));
  said.choice.each([&](std::string_view name, std::string_view json) {
    if (name != "logprobs") append_field(choice, name, json);
  });
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
    reserve();
    json::ObjectWriter answer(*out_);
    answer.string("id", identity_.id);
    answer.string("object", "chat.completion");
    answer.integer("created", identity_.created);
    answer.string("model", identity_.model);
    append_turn_fields(answer);
    append_choices(answer.key("choices"));
    const auto told = std::find_if(choices_.begin(), choices_.end(), [](const WholeChoice& said) {
      return said.told.counts.has_value();
    });
    const ToldUsage& usage = told == choices_.end() ? choices_.front().told : told->told;
    if (usage.counts || end.estimate) append_openai_usage(answer.key("usage"), usage, end);
    answer.close();
  }

  void note(std::string_view, std::string_view) override {}

  void fail(const Error& error) override {
    CALLGATE_CHECK(out_ != nullptr);
    out_->append(openai_error_body(error));
  }

 private:
  // Room for the answer, unless much of it must be escaped.
  void reserve() {
    constexpr std::size_t kEnvelope = 500;
    std::size_t size = kEnvelope;
    for (const WholeChoice& said : choices_) {
      for (const LoggedEvent& event : said.log.events()) size += event.text.size();
    }
    out_->reserve(out_->size() + size);
  }

  void append_turn_fields(json::ObjectWriter& answer) const {
    append_fields(answer, choices_.front().turn);
  }

  // A choice that the upstream never mentioned is left out.
  void append_choices(std::string& out) const {
    char separator = '[';
    for (std::uint32_t i = 0; i < choices_.size(); ++i) {
      if (!choices_[i].mentioned()) continue;
      out.push_back(std::exchange(separator, ','));
      append_choice(out, i, choices_[i], legacy_, identity_.reasoning_field);
    }
    if (separator == '[') out.push_back('[');
    out.push_back(']');
  }

  ResponseIdentity identity_;
  bool legacy_;
  std::vector<WholeChoice> choices_;
  std::string* out_ = nullptr;
};

}  // namespace

std::unique_ptr<ResponseEncoder> make_openai_whole(const Request& request,
                                                   const ResponseIdentity& identity) {
  return std::make_unique<OpenaiWhole>(request, identity);
}

}  // namespace callgate::client
