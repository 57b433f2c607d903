// The whole GenerateContentResponse: the same events as a stream, folded, each run of text in one part.
#include <utility>
#include <vector>

#include "base/check.h"
#include "chat/same_format.h"
#include "client/answer_parts.h"
#include "client/gemini/gemini.h"
#include "client/gemini/gemini_parts.h"
#include "json/writer.h"

namespace callgate::client {
namespace {

class GeminiWholeCandidate final : public EventSink {
 public:
  void accept(const Event& event) override {
    mentioned_ = true;
    std::visit(Overloaded{
                   [&](const TextDelta& e) { text(Part::Kind::text, e.text); },
                   [&](const ReasoningDelta& e) { text(Part::Kind::thought, e.text); },
                   [&](const RefusalDelta& e) { refusal_.append(e.text); },
                   [&](const CallStarted& e) { call_.start(e); },
                   [&](const ArgumentsDelta& e) { call_.arguments.append(e.bytes); },
                   [&](const CallFinished&) {
                     parts_.emplace_back().kind = Part::Kind::call;
                     parts_.back().call = std::move(call_);
                   },
                   [&](const FieldReported& e) { field(e); },
                   [&](const UsageReported& e) {
                     usage.counts = e.usage;
                     usage.json = e.json;
                   },
                   [&](const TurnFinished& e) { reason_ = e.reason; },
               },
               event);
  }

  bool mentioned() const { return mentioned_; }
  void append_to(std::string& out, std::uint32_t index);

  GeminiUsageTold usage;
  FieldFold turn;

 private:
  struct Part {
    enum class Kind : std::uint8_t { text, thought, call, raw } kind = Kind::text;
    std::string text;  // or JSON
    std::string signature;
    std::string members;  // of a text, each with a comma before it
    OpenCall call;
  };

  void text(Part::Kind kind, std::string_view text) {
    const bool other = parts_.empty() || parts_.back().kind != kind;
    if (other || !parts_.back().signature.empty() || !part_members_.empty()) {
      parts_.emplace_back().kind = kind;
      parts_.back().members = std::exchange(part_members_, {});
    }
    parts_.back().text.append(text);
  }

  void field(const FieldReported& event) {
    switch (event.scope) {
      case FieldReported::Scope::turn:
        return turn.add(event.scope, event.name, event.json);
      case FieldReported::Scope::call:
        return call_.fields.add(event.scope, event.name, event.json);
      case FieldReported::Scope::message:
        if (event.name == "reasoning_details") {
          return signatures_.add(event.json,
                                 [&](const GeminiSignatures::Placed& placed) { place(placed); });
        }
        if (event.name == kGeminiPart) {
          part_members_ = object_members(event.json);
          return;
        }
        if (event.name == "parts") {
          parts_.emplace_back().kind = Part::Kind::raw;
          append_json_line(parts_.back().text, array_elements(event.json));
          return;
        }
        break;
      case FieldReported::Scope::choice:
        break;
    }
    fields_.add(event.scope, event.name, event.json);
  }

  // On the last part of its kind that has none, else on one without text.
  void place(const GeminiSignatures::Placed& placed) {
    const bool thought = placed.place == "thought";
    for (auto part = parts_.rbegin(); placed.place != "end" && part != parts_.rend(); ++part) {
      if (part->kind != (thought ? Part::Kind::thought : Part::Kind::text)) continue;
      if (part->signature.empty()) {
        part->signature = placed.data;
        return;
      }
      break;
    }
    parts_.emplace_back().signature = placed.data;
  }

  void append_part(std::string& out, const Part& part);

  std::vector<Part> parts_;
  OpenCall call_;
  GeminiSignatures signatures_;
  std::string part_members_;  // for the next text
  std::string refusal_;
  FieldFold fields_;
  std::optional<FinishReason> reason_;
  bool mentioned_ = false;
};

void GeminiWholeCandidate::append_part(std::string& out, const Part& part) {
  switch (part.kind) {
    case Part::Kind::text:
    case Part::Kind::thought:
      append_gemini_text(out, part.text, part.kind == Part::Kind::thought, part.signature);
      if (part.members.empty()) return;
      out.pop_back();
      out.append(part.members).push_back('}');
      return;
    case Part::Kind::call:
      return append_gemini_call(out, part.call, signatures_.take(part.call.index));
    case Part::Kind::raw:
      out.append(part.text);
      return;
  }
}

void GeminiWholeCandidate::append_to(std::string& out, std::uint32_t index) {
  const bool filtered = reason_ == FinishReason::content_filter;
  if (!filtered && !refusal_.empty()) text(Part::Kind::text, refusal_);
  std::string parts;
  for (const Part& part : parts_) {
    if (!parts.empty()) parts.push_back(',');
    append_part(parts, part);
  }
  for (const std::string& sealed : signatures_.take_sealed()) {
    if (!parts.empty()) parts.push_back(',');
    append_gemini_text(parts, "", false, sealed);
  }
  json::ObjectWriter candidate(out);
  json::ObjectWriter content(candidate.key("content"));
  content.raw("parts", "[" + parts + "]");
  content.string("role", "model");
  content.close();
  if (reason_) candidate.string("finishReason", gemini_finish_word(*reason_));
  if (filtered && !refusal_.empty()) candidate.string("finishMessage", refusal_);
  candidate.integer("index", index);
  fields_.each([&](std::string_view name, std::string_view json) {
    if (name == "logprobs") return candidate.raw("logprobsResult", gemini_logprobs(json));
    std::string line;
    append_json_line(line, json);
    candidate.raw_escaped(name, line);
  });
  candidate.close();
}

class GeminiWhole final : public ResponseEncoder {
 public:
  GeminiWhole(const Request& request, const ResponseIdentity& identity)
      : identity_(identity), choices_(request.choices) {}

  EventSink& choice(std::uint32_t index) override { return choices_[index]; }
  void bind(std::string& out) override { out_ = &out; }
  void note(std::string_view, std::string_view) override {}

  void finish(const AnswerEnd& end) override {
    CALLGATE_CHECK(out_ != nullptr);
    json::ObjectWriter answer(*out_);
    std::string& list = answer.key("candidates");
    list.push_back('[');
    const GeminiUsageTold* usage = &choices_.front().usage;
    for (std::uint32_t i = 0; i < choices_.size(); ++i) {
      if (!choices_[i].mentioned()) continue;
      if (list.back() != '[') list.push_back(',');
      choices_[i].append_to(list, i);
      if (choices_[i].usage.counts && !usage->counts) usage = &choices_[i].usage;
    }
    list.push_back(']');
    append_gemini_usage(answer, *usage, end);
    append_fold(answer, choices_.front().turn);
    answer.string("modelVersion", identity_.model);
    answer.string("responseId", identity_.id);
    answer.close();
  }

  void fail(const Error& error) override {
    CALLGATE_CHECK(out_ != nullptr);
    out_->append(gemini_error_body(error));
  }

 private:
  const ResponseIdentity identity_;
  std::vector<GeminiWholeCandidate> choices_;
  std::string* out_ = nullptr;
};

}  // namespace

std::unique_ptr<ResponseEncoder> make_gemini_whole(const Request& request,
                                                   const ResponseIdentity& identity) {
  return std::make_unique<GeminiWhole>(request, identity);
}

}  // namespace callgate::client
