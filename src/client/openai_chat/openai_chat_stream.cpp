// Events -> Chat Completions frames. Hot: everything that is constant in a frame is built once.
#include <algorithm>
#include <deque>
#include <optional>
#include <utility>

#include "base/check.h"
#include "client/answer_parts.h"
#include "client/openai_chat/openai_chat.h"
#include "client/openai_chat/openai_usage.h"
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
  // The same after the end of a text.
  std::string_view text_tail() const {
    return with_usage_ ? std::string_view("\"},\"finish_reason\":null}],\"usage\":null}\n\n")
                       : std::string_view("\"},\"finish_reason\":null}]}\n\n");
  }
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

// `,"name":json`
void append_member(std::string& out, std::string_view name, std::string_view json) {
  out.push_back(',');
  json::append_string(out, name);
  out.push_back(':');
  append_json_line(out, json);
}

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
  void begin();
  std::string& begin_delta();
  void end_delta();
  void content_delta(std::string_view text);
  void text_delta(std::string_view open, std::string_view text);
  void call_started(const CallStarted& event);
  void arguments(const ArgumentsDelta& event);
  void field(const FieldReported& event);
  void message_field(const FieldReported& event);
  void call_field(const FieldReported& event);
  void choice_field(const FieldReported& event);
  void turn_finished(FinishReason reason);
  void update_heads();
  void write_head(std::string& out);
  void write_beside(std::string& out);
  void write_waiting();

  OpenaiStream& stream_;
  std::uint32_t index_;
  bool legacy_;
  bool began_ = false;
  bool finished_ = false;
  std::string text_head_;      // the envelope's, with `{"index":0,"delta":`, and `{"content":"`
  std::size_t head_size_ = 0;  // of it without the latter
  int head_version_ = 0;
  // `,"logprobs":{...}` and other fields of the choice, which wait for the next delta; with their names.
  std::string beside_;
  std::vector<std::string> beside_names_;
  // Older ones; nothing is written before the first event that a client sees.
  std::vector<std::string> waiting_;
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
  void bind(std::string& out) override {
    out_ = &out;
    call_frame_ = {};
  }

  void finish(const AnswerEnd& end) override {
    for (const ChoiceStream& choice : choices_) CALLGATE_CHECK(!choice.open());
    if (!end.counters.empty()) out().append(": ").append(end.counters).append("\n\n");
    if ((usage_.counts || end.estimate) && envelope_.with_usage()) {
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
  void set_usage(const UsageReported& usage) { usage_.set(usage); }

  // A field of the turn that stands in every frame from now on, or in the next one alone.
  void set_turn_field(std::string_view name, std::string_view json);
  // Ends a frame of a choice.
  void end_frame();
  // It ends as the one before it.
  bool is_plain_frame() const { return once_.empty(); }

  // The frame that started a call, while it is the last one that was written and can still be changed.
  struct CallFrame {
    const ChoiceStream* choice = nullptr;
    std::size_t members = 0;  // where more members of the call may stand
    std::size_t end = 0;
  };
  void keep_call_frame(const CallFrame& frame) { call_frame_ = frame; }
  // False: something else was written, or it has left.
  bool add_to_call_frame(const ChoiceStream& choice, std::string_view members);

 private:
  Envelope envelope_;
  std::string reasoning_open_;
  std::deque<ChoiceStream> choices_;
  std::string* out_ = nullptr;
  CallFrame call_frame_;
  std::vector<std::pair<std::string, std::string>> once_;  // fields of the turn for the next frame
  ToldUsage usage_;
};

void OpenaiStream::set_turn_field(std::string_view name, std::string_view json) {
  const bool always = name == "service_tier" || name == "system_fingerprint" || name == "callgate";
  if (always) return envelope_.set_field(name, json);
  auto known = std::find_if(once_.begin(), once_.end(),
                            [&](const auto& field) { return field.first == name; });
  if (known == once_.end()) known = once_.emplace(once_.end(), name, "");
  known->second.clear();
  append_json_line(known->second, json);
}

void OpenaiStream::end_frame() {
  if (once_.empty()) {
    out().append(envelope_.tail());
    return;
  }
  out().push_back(']');
  for (const auto& [name, json] : once_) append_member(out(), name, json);
  out().append(envelope_.with_usage() ? ",\"usage\":null}\n\n" : "}\n\n");
  once_.clear();
}

bool OpenaiStream::add_to_call_frame(const ChoiceStream& choice, std::string_view members) {
  if (call_frame_.choice != &choice || call_frame_.end != out().size()) return false;
  out().insert(call_frame_.members, members);
  call_frame_.members += members.size();
  call_frame_.end += members.size();
  return true;
}

void ChoiceStream::accept(const Event& event) {
  std::visit(Overloaded{
                 [&](const TextDelta& e) { content_delta(e.text); },
                 [&](const ReasoningDelta& e) { text_delta(stream_.reasoning_open(), e.text); },
                 [&](const RefusalDelta& e) { text_delta("{\"refusal\":\"", e.text); },
                 [&](const CallStarted& e) { call_started(e); },
                 [&](const ArgumentsDelta& e) { arguments(e); },
                 [](const CallFinished&) {},
                 [&](const FieldReported& e) { field(e); },
                 [&](const UsageReported& e) { stream_.set_usage(e); },
                 [&](const TurnFinished& e) { turn_finished(e.reason); },
             },
             event);
}

void ChoiceStream::update_heads() {
  const Envelope& envelope = stream_.envelope();
  if (head_version_ == envelope.version()) return;
  head_version_ = envelope.version();
  text_head_.reserve(envelope.head().size() + 48);
  text_head_.assign(envelope.head()).append("{\"index\":");
  json::append_integer(text_head_, index_);
  text_head_.append(",\"delta\":");
  head_size_ = text_head_.size();
  text_head_.append("{\"content\":\"");
}

void ChoiceStream::write_head(std::string& out) {
  update_heads();
  out.append(text_head_, 0, head_size_);
}

void ChoiceStream::write_beside(std::string& out) {
  out.append(beside_);
  beside_.clear();
  beside_names_.clear();
}

// The role comes first, in a frame of its own: some clients refuse a choice whose first frame has none.
void ChoiceStream::begin() {
  if (std::exchange(began_, true)) return;
  std::string& out = stream_.out();
  write_head(out);
  out.append("{\"role\":\"assistant\",\"content\":\"\"},\"finish_reason\":null}");
  stream_.end_frame();
  write_waiting();
}

std::string& ChoiceStream::begin_delta() {
  begin();
  std::string& out = stream_.out();
  write_head(out);
  return out;
}

// Probabilities and the like for which no delta came get frames of their own.
void ChoiceStream::write_waiting() {
  std::string& out = stream_.out();
  for (const std::string& fields : waiting_) {
    write_head(out);
    out.append("{}").append(fields).append(",\"finish_reason\":null}");
    stream_.end_frame();
  }
  waiting_.clear();
}

void ChoiceStream::end_delta() {
  std::string& out = stream_.out();
  write_beside(out);
  out.append(",\"finish_reason\":null}");
  stream_.end_frame();
}

// As text_delta(), in as few pieces as can be: nearly all frames come from here.
void ChoiceStream::content_delta(std::string_view text) {
  begin();
  update_heads();
  std::string& out = stream_.out();
  out.append(text_head_);
  json::append_escaped(out, text);
  if (beside_.empty() && stream_.is_plain_frame()) {
    out.append(stream_.envelope().text_tail());
    return;
  }
  out.append("\"}");
  end_delta();
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
  out.append(",\"type\":\"function\"");
  const std::size_t members = out.size();
  out.append(",\"function\":{\"name\":");
  json::append_string(out, event.name);
  out.append(",\"arguments\":\"\"}}]}");
  end_delta();
  stream_.keep_call_frame({this, members, out.size()});
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
      return stream_.set_turn_field(event.name, event.json);
    case FieldReported::Scope::message:
      return message_field(event);
    case FieldReported::Scope::call:
      return call_field(event);
    case FieldReported::Scope::choice:
      return choice_field(event);
  }
}

void ChoiceStream::message_field(const FieldReported& event) {
  std::string& out = begin_delta();
  out.push_back('{');
  json::append_string(out, event.name);
  out.push_back(':');
  append_json_line(out, event.json);
  out.push_back('}');
  end_delta();
}

// Clients look for such members in the delta that starts the call: that is where they stand, if they came with it. The old
// form of calls has no place for them.
void ChoiceStream::call_field(const FieldReported& event) {
  if (legacy_) return;
  std::string members;
  append_member(members, event.name, event.json);
  if (stream_.add_to_call_frame(*this, members)) return;
  std::string& out = begin_delta();
  out.append("{\"tool_calls\":[{\"index\":");
  json::append_integer(out, event.call);
  out.append(members).append(",\"function\":{\"arguments\":\"\"}}]}");
  end_delta();
}

void ChoiceStream::choice_field(const FieldReported& event) {
  // A frame with more names than any server has is cut in two, so that looking for them stays cheap.
  constexpr std::size_t kMostNames = 64;
  const bool again =
      beside_names_.size() == kMostNames ||
      std::find(beside_names_.begin(), beside_names_.end(), event.name) != beside_names_.end();
  if (again) {
    waiting_.push_back(std::exchange(beside_, {}));
    beside_names_.clear();
  }
  if (began_) write_waiting();
  beside_names_.emplace_back(event.name);
  append_member(beside_, event.name, event.json);
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
  write_beside(out);
  out.append(",\"finish_reason\":\"").append(openai_finish_word(reason, legacy_)).append("\"}");
  stream_.end_frame();
}

}  // namespace

std::unique_ptr<ResponseEncoder> make_openai_stream(const Request& request,
                                                    const ResponseIdentity& identity) {
  return std::make_unique<OpenaiStream>(request, identity);
}

}  // namespace callgate::client
