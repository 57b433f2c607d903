#include "client/openai_completions/openai_completions.h"

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "client/answer_parts.h"
#include "client/openai_chat/openai_chat.h"
#include "client/openai_chat/openai_usage.h"
#include "json/writer.h"

namespace callgate::client {
namespace {

constexpr Endpoint kCompletionsEndpoints[] = {
    {"POST", "/v1/completions", Endpoint::Kind::turn},
};

// `"index":0,"logprobs":null,"finish_reason":"stop"}`
void append_completion_end(std::string& out, std::uint32_t index,
                           std::optional<FinishReason> reason) {
  out.append("\",\"index\":");
  json::append_integer(out, index);
  out.append(",\"logprobs\":null,\"finish_reason\":");
  if (!reason) {
    out.append("null}");
    return;
  }
  const bool calls = *reason == FinishReason::tool_calls;
  json::append_string(out, openai_finish_word(calls ? FinishReason::stop : *reason, false));
  out.push_back('}');
}

class CompletionsEncoder;

class CompletionChoice final : public EventSink {
 public:
  CompletionChoice(CompletionsEncoder& encoder, std::uint32_t index)
      : encoder_(encoder), index_(index) {}

  void accept(const Event& event) override;
  void append_whole(std::string& out) const {
    out.append("{\"text\":\"");
    json::append_escaped(out, text_);
    append_completion_end(out, index_, reason_);
  }
  bool mentioned() const { return mentioned_; }

 private:
  void text(std::string_view text);

  CompletionsEncoder& encoder_;
  const std::uint32_t index_;
  bool mentioned_ = false;
  std::string text_;  // of a whole answer
  std::optional<FinishReason> reason_;
};

class CompletionsEncoder final : public ResponseEncoder {
 public:
  CompletionsEncoder(const Request& request, const ResponseIdentity& identity)
      : stream_(request.stream), with_usage_(request.include_usage || !request.stream) {
    json::ObjectWriter head(head_);
    head.string("id", identity.id);
    head.string("object", "text_completion");
    head.integer("created", identity.created);
    head.string("model", identity.model);
    frame_ = "data: " + head_ + ",\"choices\":[{\"text\":\"";
    for (std::uint32_t i = 0; i < request.choices; ++i) choices_.emplace_back(*this, i);
  }

  EventSink& choice(std::uint32_t index) override { return choices_[index]; }
  void bind(std::string& out) override { out_ = &out; }

  void finish(const AnswerEnd& end) override {
    if (!stream_) return finish_whole(end);
    if ((usage_.counts || end.estimate) && with_usage_) {
      out().append("data: ").append(head_).append(",\"choices\":[],\"usage\":");
      append_openai_usage(out(), usage_, end);
      out().append("}\n\n");
    }
    out().append("data: [DONE]\n\n");
  }

  void note(std::string_view name, std::string_view json) override {
    if (!stream_) return;
    out().append(frame_);
    append_completion_end(out(), 0, std::nullopt);
    out().append("],");
    json::append_string(out(), name);
    out().push_back(':');
    append_json_line(out(), json);
    out().append("}\n\n");
  }

  void fail(const Error& error) override {
    if (!stream_) {
      out().append(openai_error_body(error));
      return;
    }
    out().append("data: ").append(openai_error_body(error)).append("\n\ndata: [DONE]\n\n");
  }

  bool streams() const { return stream_; }
  void frame(std::uint32_t index, std::string_view text, std::optional<FinishReason> reason) {
    std::string& to = out();
    to.append(frame_);
    json::append_escaped(to, text);
    append_completion_end(to, index, reason);
    to.append("]}\n\n");
  }
  void set_usage(const UsageReported& usage) { usage_.set(usage); }

 private:
  std::string& out() {
    CALLGATE_CHECK(out_ != nullptr);
    return *out_;
  }

  void finish_whole(const AnswerEnd& end) {
    std::string& to = out();
    to.append(head_).append(",\"choices\":[");
    for (const CompletionChoice& choice : choices_) {
      if (!choice.mentioned()) continue;
      if (to.back() != '[') to.push_back(',');
      choice.append_whole(to);
    }
    to.push_back(']');
    if (usage_.counts || end.estimate) {
      to.append(",\"usage\":");
      append_openai_usage(to, usage_, end);
    }
    to.push_back('}');
  }

  const bool stream_;
  const bool with_usage_;
  std::string head_;   // {"id":"cmpl-1",...,"model":"m"
  std::string frame_;  // data: ..."choices":[{"text":"
  std::deque<CompletionChoice> choices_;
  ToldUsage usage_;
  std::string* out_ = nullptr;
};

void CompletionChoice::accept(const Event& event) {
  mentioned_ = true;
  std::visit(Overloaded{
                 [&](const TextDelta& e) { text(e.text); },
                 [](const ReasoningDelta&) {},
                 [&](const RefusalDelta& e) { text(e.text); },
                 [](const CallStarted&) {},
                 [](const ArgumentsDelta&) {},
                 [](const CallFinished&) {},
                 [](const FieldReported&) {},
                 [&](const UsageReported& e) { encoder_.set_usage(e); },
                 [&](const TurnFinished& e) {
                   reason_ = e.reason;
                   const bool failed = e.reason == FinishReason::upstream_error;  // fail() says it
                   if (encoder_.streams() && !failed) encoder_.frame(index_, "", e.reason);
                 },
             },
             event);
}

void CompletionChoice::text(std::string_view text) {
  if (encoder_.streams()) return encoder_.frame(index_, text, std::nullopt);
  text_.append(text);
}

}  // namespace

std::unique_ptr<ResponseEncoder> make_completions_encoder(const Request& request,
                                                          const ResponseIdentity& identity) {
  return std::make_unique<CompletionsEncoder>(request, identity);
}

const Protocol kOpenaiCompletions = {
    .name = "openai_completions",
    .endpoints = kCompletionsEndpoints,
    .id_prefix = "cmpl-",
    .stream_type = "text/event-stream; charset=utf-8",
    .keep_alive = ": keep-alive\n\n",
    .decode = decode_openai_completions,
    .make_encoder = make_completions_encoder,
    .error_body = openai_error_body,
};

}  // namespace callgate::client
