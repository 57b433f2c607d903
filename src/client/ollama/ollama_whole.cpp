// The whole answer of Ollama's API: the same events as a stream, folded.
#include "base/check.h"
#include "base/utc_time.h"
#include "client/ollama/ollama_encoders.h"
#include "client/ollama/ollama_parts.h"
#include "json/writer.h"

namespace callgate::client {
namespace {

class OllamaWhole final : public ResponseEncoder, private EventSink {
 public:
  OllamaWhole(const Request& request, const ResponseIdentity& identity)
      : identity_(identity), generate_(request.form == kOllamaGenerate) {}

  EventSink& choice(std::uint32_t) override { return *this; }
  void bind(std::string& out) override { out_ = &out; }
  void note(std::string_view, std::string_view) override {}

  void finish(const AnswerEnd& end) override {
    CALLGATE_CHECK(out_ != nullptr);
    json::ObjectWriter answer(*out_);
    answer.string("model", identity_.model);
    answer.string("created_at", print_utc(identity_.created));
    if (generate_) {
      append_said(answer, "response");
    } else {
      json::ObjectWriter message(answer.key("message"));
      message.string("role", "assistant");
      append_said(message, "content");
      message.close();
    }
    if (!logprobs_.empty()) answer.raw("logprobs", "[" + logprobs_ + "]");
    end_.append_to(answer, end);
    answer.close();
  }

  void fail(const Error& error) override {
    CALLGATE_CHECK(out_ != nullptr);
    out_->append(ollama_error_body(error));
  }

 private:
  void accept(const Event& event) override {
    std::visit(Overloaded{
                   [&](const TextDelta& e) { text_.append(e.text); },
                   [&](const ReasoningDelta& e) { thinking_.append(e.text); },
                   [&](const RefusalDelta& e) { text_.append(e.text); },
                   [&](const CallStarted& e) { call_.start(e); },
                   [&](const ArgumentsDelta& e) { call_.arguments.append(e.bytes); },
                   [&](const CallFinished&) {
                     if (!calls_.empty()) calls_.push_back(',');
                     append_ollama_call(calls_, call_);
                   },
                   [&](const FieldReported& e) { field(e); },
                   [&](const UsageReported& e) { end_.usage = e.usage; },
                   [&](const TurnFinished& e) { end_.reason = e.reason; },
               },
               event);
  }

  void append_said(json::ObjectWriter& object, std::string_view text_name) const {
    object.string(text_name, text_);
    if (!thinking_.empty()) object.string("thinking", thinking_);
    if (!calls_.empty()) object.raw("tool_calls", "[" + calls_ + "]");
    append_fold(object, message_);
  }

  void field(const FieldReported& event) {
    switch (event.scope) {
      case FieldReported::Scope::call:
        return call_.fields.add(event.scope, event.name, event.json);
      case FieldReported::Scope::message:
        return message_.add(event.scope, event.name, event.json);
      case FieldReported::Scope::choice:
        if (event.name == "logprobs") return append_ollama_logprobs(logprobs_, event.json);
        break;
      case FieldReported::Scope::turn:
        break;
    }
    end_.fields.add(event.scope, event.name, event.json);
  }

  const ResponseIdentity identity_;
  const bool generate_;
  std::string text_;
  std::string thinking_;
  std::string calls_;  // elements
  std::string logprobs_;
  FieldFold message_;
  OpenCall call_;
  OllamaEnd end_;
  std::string* out_ = nullptr;
};

}  // namespace

std::unique_ptr<ResponseEncoder> make_ollama_whole(const Request& request,
                                                   const ResponseIdentity& identity) {
  return std::make_unique<OllamaWhole>(request, identity);
}

}  // namespace callgate::client
