// Events -> GenerateContentResponse objects, as server-sent events or as elements of an array. Hot: everything that is
// constant in an object is built once.
#include <deque>
#include <utility>

#include "base/check.h"
#include "chat/same_format.h"
#include "client/answer_parts.h"
#include "client/cut_call.h"
#include "client/gemini/gemini.h"
#include "client/gemini/gemini_parts.h"
#include "json/writer.h"

namespace callgate::client {
namespace {

class GeminiStream;

// The sink of one candidate.
class GeminiCandidateStream final : public EventSink {
 public:
  GeminiCandidateStream(GeminiStream& stream, std::uint32_t index);

  void accept(const Event& event) override;
  // The candidate as it stands in the last object.
  void append_end(std::string& out);
  bool mentioned() const { return mentioned_; }

 private:
  void text(std::string_view open, std::string_view text);
  // An object with one part; `write` appends it.
  template <class Write>
  void part(Write write);
  void call();
  void field(const FieldReported& event);
  void message_field(const FieldReported& event);
  void append_beside(std::string& out);

  GeminiStream& stream_;
  std::string open_;          // {"candidates":[{"content":{"parts":[
  std::string role_;          // ],"role":"model"},"index":0
  std::string text_open_;     // ... {"text":"
  std::string thought_open_;  // ... {"thought":true,"text":"
  OpenCall call_;
  CutCall cut_;
  GeminiSignatures signatures_;
  std::string refusal_;
  std::string logprobs_;      // waits for the next object
  std::string part_members_;  // for the next text, each with a comma before it
  FieldFold fields_;          // of the choice and the message
  std::optional<FinishReason> reason_;
  bool mentioned_ = false;
};

class GeminiStream final : public ResponseEncoder {
 public:
  GeminiStream(const Request& request, const ResponseIdentity& identity)
      : array_(request.form == kGeminiArray) {
    std::string about;
    json::ObjectWriter object(about);
    object.string("modelVersion", identity.model);
    object.string("responseId", identity.id);
    about_ = about.substr(1);  // without the brace; the object goes on
    tail_ = "]," + about_ + "}" + std::string(frame_end());
    for (std::uint32_t i = 0; i < request.choices; ++i) choices_.emplace_back(*this, i);
  }

  EventSink& choice(std::uint32_t index) override { return choices_[index]; }
  void bind(std::string& out) override { out_ = &out; }

  void finish(const AnswerEnd& end) override {
    std::string& out = begin_frame();
    out.append("{\"candidates\":[");
    for (GeminiCandidateStream& candidate : choices_) {
      if (!candidate.mentioned()) continue;
      if (out.back() != '[') out.push_back(',');
      candidate.append_end(out);
    }
    out.append("],");
    std::string rest;
    json::ObjectWriter object(rest);
    append_gemini_usage(object, usage_, end);
    append_fold(object, turn_);
    if (rest.size() > 1) out.append(rest, 1).push_back(',');
    out.append(about_).append("}").append(frame_end());
    if (array_) out.append("]");
  }

  void note(std::string_view name, std::string_view json) override {
    std::string& out = begin_frame();
    out.append(R"({"candidates":[{"content":{"parts":[{"text":""}],"role":"model"},"index":0}],)");
    json::append_string(out, name);
    out.push_back(':');
    append_json_line(out, json);
    out.append(",").append(about_).append("}").append(frame_end());
  }

  void fail(const Error& error) override {
    std::string& out = begin_frame();
    out.append(gemini_error_body(error)).append(frame_end());
    if (array_) out.append("]");
  }

  // What stands before an object is written; the object may follow.
  std::string& begin_frame() {
    CALLGATE_CHECK(out_ != nullptr);
    if (!array_) {
      out_->append("data: ");
    } else {
      out_->append(std::exchange(began_, true) ? "," : "[");
    }
    return *out_;
  }
  // The end of an object whose candidates are written, but for their bracket.
  std::string_view tail() const { return tail_; }
  void set_usage(const UsageReported& usage) {
    usage_.counts = usage.usage;
    usage_.json = usage.json;
  }
  FieldFold& turn_fields() { return turn_; }

 private:
  std::string_view frame_end() const { return array_ ? "\n" : "\n\n"; }

  const bool array_;
  bool began_ = false;
  std::string about_;  // "modelVersion":"m","responseId":"r"
  std::string tail_;
  std::deque<GeminiCandidateStream> choices_;
  GeminiUsageTold usage_;
  FieldFold turn_;
  std::string* out_ = nullptr;
};

GeminiCandidateStream::GeminiCandidateStream(GeminiStream& stream, std::uint32_t index)
    : stream_(stream), open_(R"({"candidates":[{"content":{"parts":[)") {
  role_ = R"(],"role":"model"},"index":)" + std::to_string(index);
  text_open_ = open_ + R"({"text":")";
  thought_open_ = open_ + R"({"thought":true,"text":")";
}

void GeminiCandidateStream::accept(const Event& event) {
  mentioned_ = true;
  if (cut_.before(event) == CutCall::Fate::ended) call();
  std::visit(Overloaded{
                 [&](const TextDelta& e) { text(text_open_, e.text); },
                 [&](const ReasoningDelta& e) { text(thought_open_, e.text); },
                 // How the turn ends says where it belongs.
                 [&](const RefusalDelta& e) { refusal_.append(e.text); },
                 [&](const CallStarted& e) { call_.start(e); },
                 [&](const ArgumentsDelta& e) { call_.arguments.append(e.bytes); },
                 [&](const CallFinished& e) {
                   e.outcome == CallOutcome::truncated ? cut_.hold() : call();
                 },
                 [&](const FieldReported& e) { field(e); },
                 [&](const UsageReported& e) { stream_.set_usage(e); },
                 [&](const TurnFinished& e) { reason_ = e.reason; },
             },
             event);
}

void GeminiCandidateStream::append_beside(std::string& out) {
  if (logprobs_.empty()) return;
  out.append(",\"logprobsResult\":").append(std::exchange(logprobs_, {}));
}

void GeminiCandidateStream::text(std::string_view open, std::string_view text) {
  std::string& out = stream_.begin_frame();
  out.append(open);
  json::append_escaped(out, text);
  out.append("\"").append(part_members_).append("}").append(role_);
  part_members_.clear();
  append_beside(out);
  out.append("}").append(stream_.tail());
}

template <class Write>
void GeminiCandidateStream::part(Write write) {
  std::string& out = stream_.begin_frame();
  out.append(open_);
  write(out);
  out.append(role_);
  append_beside(out);
  out.append("}").append(stream_.tail());
}

void GeminiCandidateStream::call() {
  const std::string signature = signatures_.take(call_.index);
  part([&](std::string& out) { append_gemini_call(out, call_, signature); });
}

void GeminiCandidateStream::field(const FieldReported& event) {
  switch (event.scope) {
    case FieldReported::Scope::turn:
      return stream_.turn_fields().add(event.scope, event.name, event.json);
    case FieldReported::Scope::call:
      return call_.fields.add(event.scope, event.name, event.json);
    case FieldReported::Scope::message:
      return message_field(event);
    case FieldReported::Scope::choice:
      if (event.name == "logprobs") {
        logprobs_ = gemini_logprobs(event.json);
        return;
      }
      return fields_.add(event.scope, event.name, event.json);
  }
}

// A signature whose part has left stands on one without text.
void GeminiCandidateStream::message_field(const FieldReported& event) {
  if (event.name == "reasoning_details") {
    return signatures_.add(event.json, [&](const GeminiSignatures::Placed& placed) {
      part([&](std::string& out) { append_gemini_text(out, "", false, placed.data); });
    });
  }
  if (event.name == kGeminiPart) {
    part_members_ = object_members(event.json);
    return;
  }
  if (event.name == "parts") {
    return part([&](std::string& out) { append_json_line(out, array_elements(event.json)); });
  }
  fields_.add(event.scope, event.name, event.json);
}

void GeminiCandidateStream::append_end(std::string& out) {
  out.append(R"({"content":{"parts":[)");
  const bool filtered = reason_ == FinishReason::content_filter;
  append_gemini_text(out, filtered ? std::string_view() : std::string_view(refusal_), false, {});
  for (const std::string& sealed : signatures_.take_sealed()) {
    out.push_back(',');
    append_gemini_text(out, "", false, sealed);
  }
  out.append(role_);
  append_beside(out);
  if (reason_) out.append(",\"finishReason\":\"").append(gemini_finish_word(*reason_)).append("\"");
  if (filtered && !refusal_.empty()) {
    out.append(",\"finishMessage\":");
    json::append_string(out, refusal_);
  }
  std::string rest;
  json::ObjectWriter object(rest);
  append_fold(object, fields_);
  if (rest.size() > 1) out.append(",").append(rest, 1);
  out.push_back('}');
}

}  // namespace

std::unique_ptr<ResponseEncoder> make_gemini_stream(const Request& request,
                                                    const ResponseIdentity& identity) {
  return std::make_unique<GeminiStream>(request, identity);
}

}  // namespace callgate::client
