// Events -> lines of Ollama's API. Hot: everything that is constant in a line is built once.
#include <utility>

#include "base/check.h"
#include "base/utc_time.h"
#include "client/answer_parts.h"
#include "client/cut_call.h"
#include "client/ollama/ollama_encoders.h"
#include "client/ollama/ollama_parts.h"
#include "json/writer.h"

namespace callgate::client {
namespace {

class OllamaStream final : public ResponseEncoder, private EventSink {
 public:
  OllamaStream(const Request& request, const ResponseIdentity& identity)
      : generate_(request.form == kOllamaGenerate) {
    json::ObjectWriter head(head_);
    head.string("model", identity.model);
    head.string("created_at", print_utc(identity.created));
    text_open_.append(head_).append(generate_ ? kResponse : kMessage);
    thinking_open_ = text_open_ + R"(","thinking":")";
    delta_close_ = generate_ ? "\"" : "\"}";
  }

  EventSink& choice(std::uint32_t) override { return *this; }
  void bind(std::string& out) override { out_ = &out; }

  void finish(const AnswerEnd& end) override {
    std::string& line = out();
    line.append(text_open_).append(delta_close_);
    append_logprobs(line);
    line.push_back(',');
    // The rest of the object, of which the beginning stands there.
    std::string rest;
    json::ObjectWriter object(rest);
    end_.append_to(object, end);
    object.close();
    line.append(rest, 1).push_back('\n');
  }

  void note(std::string_view name, std::string_view json) override {
    std::string& line = out();
    line.append(text_open_).append(delta_close_).push_back(',');
    json::append_string(line, name);
    line.push_back(':');
    append_json_line(line, json);
    line.append(",\"done\":false}\n");
  }

  void fail(const Error& error) override { out().append(ollama_error_body(error)).push_back('\n'); }

 private:
  static constexpr std::string_view kResponse = R"(,"response":")";
  static constexpr std::string_view kMessage = R"(,"message":{"role":"assistant","content":")";

  std::string& out() {
    CALLGATE_CHECK(out_ != nullptr);
    return *out_;
  }

  void accept(const Event& event) override {
    if (cut_.before(event) == CutCall::Fate::ended) call();
    std::visit(Overloaded{
                   [&](const TextDelta& e) { delta(text_open_, e.text); },
                   [&](const ReasoningDelta& e) { delta(thinking_open_, e.text); },
                   // There is no other place for it.
                   [&](const RefusalDelta& e) { delta(text_open_, e.text); },
                   [&](const CallStarted& e) { call_.start(e); },
                   [&](const ArgumentsDelta& e) { call_.arguments.append(e.bytes); },
                   [&](const CallFinished& e) {
                     e.outcome == CallOutcome::truncated ? cut_.hold() : call();
                   },
                   [&](const FieldReported& e) { field(e); },
                   [&](const UsageReported& e) { end_.usage = e.usage; },
                   [&](const TurnFinished& e) { end_.reason = e.reason; },
               },
               event);
  }

  void delta(std::string_view open, std::string_view text) {
    std::string& line = out();
    line.append(open);
    json::append_escaped(line, text);
    line.append(delta_close_);
    end_line(line);
  }

  void append_logprobs(std::string& line) {
    if (logprobs_.empty()) return;
    line.append(",\"logprobs\":[").append(std::exchange(logprobs_, {})).push_back(']');
  }

  void end_line(std::string& line) {
    append_logprobs(line);
    line.append(",\"done\":false}\n");
  }

  // A line with a member of the message that is not a text.
  void member(std::string_view name, std::string_view json) {
    std::string& line = out();
    line.append(text_open_).append("\",");
    json::append_string(line, name);
    line.append(":").append(json);
    if (!generate_) line.push_back('}');
    end_line(line);
  }

  void call() {
    std::string calls = "[";
    append_ollama_call(calls, call_);
    calls.push_back(']');
    member("tool_calls", calls);
  }

  void field(const FieldReported& event) {
    switch (event.scope) {
      case FieldReported::Scope::call:
        return call_.fields.add(event.scope, event.name, event.json);
      case FieldReported::Scope::message: {
        std::string line;
        append_json_line(line, event.json);
        return member(event.name, line);
      }
      case FieldReported::Scope::choice:
        if (event.name == "logprobs") return append_ollama_logprobs(logprobs_, event.json);
        break;
      case FieldReported::Scope::turn:
        break;
    }
    end_.fields.add(event.scope, event.name, event.json);
  }

  const bool generate_;
  std::string head_;  // {"model":"m","created_at":"..."
  std::string text_open_;
  std::string thinking_open_;
  std::string_view delta_close_;
  std::string logprobs_;  // elements that wait for the next line
  OpenCall call_;
  CutCall cut_;
  OllamaEnd end_;
  std::string* out_ = nullptr;
};

}  // namespace

std::unique_ptr<ResponseEncoder> make_ollama_stream(const Request& request,
                                                    const ResponseIdentity& identity) {
  return std::make_unique<OllamaStream>(request, identity);
}

}  // namespace callgate::client
