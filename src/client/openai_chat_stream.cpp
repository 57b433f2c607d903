// Events -> Chat Completions frames. Hot: everything that is constant in a frame is built once.
#include <deque>
#include <optional>
#include <utility>

#include "base/check.h"
#include "client/openai_chat.h"
#include "client/openai_usage.h"
#include "json/writer.h"

namespace callgate::client {
namespace {

// What every frame of one answer starts and ends with.
class Envelope {
 public:
  Envelope(const Request& request, const ResponseIdentity& identity)
      : identity_(identity), with_usage_(request.include_usage) {
    rebuild();
  }

  // REQUIRES: `json` is a whole JSON value.
  void set_field(std::string_view name, std::string_view json) {
    for (auto& [known, value] : fields_) {
      if (known == name) {
        value.clear();
        append_json_line(value, json);
        return rebuild();
      }
    }
    append_json_line(fields_.emplace_back(name, "").second, json);
    rebuild();
  }

  // `data: {"id":...,"choices":[`
  std::string_view head() const { return head_; }
  // `]}` or `],"usage":null}`, and the end of the frame
  std::string_view tail() const { return with_usage_ ? "],\"usage\":null}\n\n" : "]}\n\n"; }
  bool with_usage() const { return with_usage_; }
  int version() const { return version_; }

 private:
  void rebuild() {
    ++version_;
    head_ = "data: ";
    json::ObjectWriter object(head_);
    object.string("id", identity_.id);
    object.string("object", "chat.completion.chunk");
    object.integer("created", identity_.created);
    object.string("model", identity_.model);
    for (const auto& [name, json] : fields_) object.raw(name, json);
    object.key("choices") += '[';
  }

  ResponseIdentity identity_;
  bool with_usage_;
  std::vector<std::pair<std::string, std::string>> fields_;  // service_tier and the like
  std::string head_;
  int version_ = 0;
};

class OpenaiStream;

// The sink of one choice.
class ChoiceStream final : public EventSink {
 public:
  ChoiceStream(OpenaiStream& stream, std::uint32_t index, bool legacy)
      : stream_(stream), index_(index), legacy_(legacy) {}

  void accept(const Event& event) override;
  bool open() const { return began_ && !finished_; }
  void note(std::string_view name, std::string_view json);

 private:
  std::string& begin_delta();
  void end_delta();
  void text_delta(std::string_view open, std::string_view text);
  void call_started(const CallStarted& event);
  void arguments(const ArgumentsDelta& event);
  void field(const FieldReported& event);
  void turn_finished(FinishReason reason);
  void write_head(std::string& out);
  void write_logprobs(std::string& out);
  void write_waiting();

  OpenaiStream& stream_;
  std::uint32_t index_;
  bool legacy_;
  bool began_ = false;
  bool finished_ = false;
  std::string head_;  // the envelope's, with `{"index":0,"delta":`
  int head_version_ = 0;
  std::string logprobs_;  // waits for the next delta
  std::vector<std::string>
      waiting_;  // older ones; nothing is written before the first event that a client sees
};

class OpenaiStream final : public ResponseEncoder {
 public:
  OpenaiStream(const Request& request, const ResponseIdentity& identity)
      : envelope_(request, identity),
        reasoning_open_("{\"" + std::string(identity.reasoning_field) + "\":\"") {
    for (std::uint32_t i = 0; i < request.choices; ++i) {
      choices_.emplace_back(*this, i, request.legacy_functions);
    }
  }

  EventSink& choice(std::uint32_t index) override { return choices_[index]; }
  void bind(std::string& out) override { out_ = &out; }

  void finish(const AnswerEnd& end) override {
    for (const ChoiceStream& choice : choices_) CALLGATE_CHECK(!choice.open());
    if (!end.counters.empty()) out().append(": ").append(end.counters).append("\n\n");
    if ((usage_ || end.estimate) && envelope_.with_usage()) {
      out().append(envelope_.head()).append("],\"usage\":");
      append_openai_usage(out(), usage_, end);
      out().append("}\n\n");
    }
    out().append("data: [DONE]\n\n");
  }

  void note(std::string_view name, std::string_view json) override {
    choices_.front().note(name, json);
  }

  void fail(const Error& error) override {
    out().append("data: ").append(openai_error_body(error)).append("\n\ndata: [DONE]\n\n");
  }

  std::string& out() {
    CALLGATE_CHECK(out_ != nullptr);
    return *out_;
  }
  Envelope& envelope() { return envelope_; }
  // What a delta with reasoning starts with.
  std::string_view reasoning_open() const { return reasoning_open_; }
  void set_usage(const Usage& usage) { usage_ = usage; }

 private:
  Envelope envelope_;
  std::string reasoning_open_;
  std::deque<ChoiceStream> choices_;
  std::string* out_ = nullptr;
  std::optional<Usage> usage_;
};

void ChoiceStream::accept(const Event& event) {
  std::visit(Overloaded{
                 [&](const TextDelta& e) { text_delta("{\"content\":\"", e.text); },
                 [&](const ReasoningDelta& e) { text_delta(stream_.reasoning_open(), e.text); },
                 [&](const RefusalDelta& e) { text_delta("{\"refusal\":\"", e.text); },
                 [&](const CallStarted& e) { call_started(e); },
                 [&](const ArgumentsDelta& e) { arguments(e); },
                 [](const CallFinished&) {},
                 [&](const FieldReported& e) { field(e); },
                 [&](const UsageReported& e) { stream_.set_usage(e.usage); },
                 [&](const TurnFinished& e) { turn_finished(e.reason); },
             },
             event);
}

void ChoiceStream::write_head(std::string& out) {
  const Envelope& envelope = stream_.envelope();
  if (head_version_ != envelope.version()) {
    head_version_ = envelope.version();
    head_.assign(envelope.head()).append("{\"index\":");
    json::append_integer(head_, index_);
    head_.append(",\"delta\":");
  }
  out.append(head_);
}

void ChoiceStream::write_logprobs(std::string& out) {
  if (logprobs_.empty()) return;
  out.append(",\"logprobs\":").append(logprobs_);
  logprobs_.clear();
}

// The role comes first, in a frame of its own: some clients refuse a choice whose first frame has none.
std::string& ChoiceStream::begin_delta() {
  std::string& out = stream_.out();
  if (!std::exchange(began_, true)) {
    write_head(out);
    out.append("{\"role\":\"assistant\",\"content\":\"\"},\"finish_reason\":null}");
    out.append(stream_.envelope().tail());
    write_waiting();
  }
  write_head(out);
  return out;
}

// Probabilities for which no delta came get frames of their own.
void ChoiceStream::write_waiting() {
  std::string& out = stream_.out();
  for (const std::string& logprobs : waiting_) {
    write_head(out);
    out.append("{},\"logprobs\":").append(logprobs).append(",\"finish_reason\":null}");
    out.append(stream_.envelope().tail());
  }
  waiting_.clear();
}

void ChoiceStream::end_delta() {
  std::string& out = stream_.out();
  write_logprobs(out);
  out.append(",\"finish_reason\":null}").append(stream_.envelope().tail());
}

void ChoiceStream::text_delta(std::string_view open, std::string_view text) {
  std::string& out = begin_delta();
  out.append(open);
  json::append_escaped(out, text);
  out.append("\"}");
  end_delta();
}

void ChoiceStream::call_started(const CallStarted& event) {
  if (legacy_) {
    // The old form has room for one call.
    if (event.call > 0) return;
    std::string& out = begin_delta();
    out.append("{\"function_call\":{\"name\":");
    json::append_string(out, event.name);
    out.append(",\"arguments\":\"\"}}");
    return end_delta();
  }
  std::string& out = begin_delta();
  out.append("{\"tool_calls\":[{\"index\":");
  json::append_integer(out, event.call);
  out.append(",\"id\":");
  json::append_string(out, event.native_id);
  out.append(",\"type\":\"function\",\"function\":{\"name\":");
  json::append_string(out, event.name);
  out.append(",\"arguments\":\"\"}}]}");
  end_delta();
}

void ChoiceStream::arguments(const ArgumentsDelta& event) {
  if (legacy_) {
    if (event.call == 0) {
      std::string& out = begin_delta();
      out.append("{\"function_call\":{\"arguments\":\"");
      json::append_escaped(out, event.bytes);
      out.append("\"}}");
      end_delta();
    }
    return;
  }
  std::string& out = begin_delta();
  out.append("{\"tool_calls\":[{\"index\":");
  json::append_integer(out, event.call);
  out.append(",\"function\":{\"arguments\":\"");
  json::append_escaped(out, event.bytes);
  out.append("\"}}]}");
  end_delta();
}

void ChoiceStream::field(const FieldReported& event) {
  switch (event.scope) {
    case FieldReported::Scope::turn:
      return stream_.envelope().set_field(event.name, event.json);
    case FieldReported::Scope::message: {
      std::string& out = begin_delta();
      json::ObjectWriter delta(out);
      append_json_line(delta.key(event.name), event.json);
      delta.close();
      return end_delta();
    }
    case FieldReported::Scope::choice:
      break;
  }
  if (event.name != "logprobs") return;
  if (!logprobs_.empty()) waiting_.push_back(std::exchange(logprobs_, {}));
  if (began_) write_waiting();
  append_json_line(logprobs_, event.json);
}

void ChoiceStream::note(std::string_view name, std::string_view json) {
  std::string& out = begin_delta();
  out.append("{},\"finish_reason\":null}],");
  json::append_string(out, name);
  out.push_back(':');
  append_json_line(out, json);
  out.append(stream_.envelope().with_usage() ? ",\"usage\":null}\n\n" : "}\n\n");
}

void ChoiceStream::turn_finished(FinishReason reason) {
  finished_ = true;
  if (reason == FinishReason::upstream_error) return;  // fail() says it
  std::string& out = begin_delta();
  out.append("{}");
  write_logprobs(out);
  out.append(",\"finish_reason\":\"").append(openai_finish_word(reason, legacy_)).append("\"}");
  out.append(stream_.envelope().tail());
}

}  // namespace

std::unique_ptr<ResponseEncoder> make_openai_stream(const Request& request,
                                                    const ResponseIdentity& identity) {
  return std::make_unique<OpenaiStream>(request, identity);
}

}  // namespace callgate::client
