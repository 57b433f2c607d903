#include "script/reply/gemini_reply.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "json/writer.h"
#include "script/reply/frame_writer.h"
#include "script/reply/gemini_request.h"
#include "script/reply/json_bytes.h"
#include "script/reply/sealed.h"

namespace callgate::script {
namespace {

std::string_view status_word(int status) {
  struct Row {
    int status;
    std::string_view word;
  };
  static constexpr auto kRows = std::to_array<Row>({{400, "INVALID_ARGUMENT"},
                                                    {401, "UNAUTHENTICATED"},
                                                    {403, "PERMISSION_DENIED"},
                                                    {404, "NOT_FOUND"},
                                                    {409, "ABORTED"},
                                                    {429, "RESOURCE_EXHAUSTED"},
                                                    {500, "INTERNAL"},
                                                    {503, "UNAVAILABLE"},
                                                    {504, "DEADLINE_EXCEEDED"}});
  for (const Row& row : kRows) {
    if (row.status == status) return row.word;
  }
  return "UNKNOWN";
}

std::string gemini_error_json(int status, std::string_view message) {
  std::string out = "{\"error\":";
  json::ObjectWriter error(out);
  error.integer("code", status);
  error.string("message", message);
  error.string("status", status_word(status));
  error.close();
  return out + "}";
}

std::string_view finish_word(FinishReason reason) {
  switch (reason) {
    case FinishReason::stop:
    case FinishReason::tool_calls:
      return "STOP";
    case FinishReason::length:
      return "MAX_TOKENS";
    case FinishReason::content_filter:
      return "SAFETY";
    case FinishReason::upstream_error:
      return "OTHER";
  }
  return "";
}

void append_text(std::string& out, std::string_view text, bool thought) {
  append_json_bytes(out += "{\"text\":", text);
  out += thought ? ",\"thought\":true}" : "}";
}

// A signature stands on the first call of a turn, else on a last part without text if the model thought.
void append_signature(std::string& out, std::string_view of) {
  out += ",\"thoughtSignature\":\"" + sealed("sig_", of) + "\"";
}

void append_gemini_call(std::string& out, const LoggedCall& call, bool first,
                        const Faults& faults) {
  json::ObjectWriter part(out);
  json::ObjectWriter made(part.key("functionCall"));
  if (!faults.has(Fault::no_id)) made.string("id", faults.has(Fault::empty_id) ? "" : call.id);
  if (!faults.has(Fault::no_name)) made.string("name", call.name);
  append_arguments_value(made.key("args"), call.arguments);
  made.close();
  if (first) append_signature(out, call.name + call.arguments);
  part.close();
}

class GeminiReply final : public ReplyEncoder {
 public:
  GeminiReply(ReplyIdentity identity, const Faults& faults)
      : faults_(faults),
        identity_(std::move(identity)),
        frames_(faults),
        choices_(std::max<std::uint32_t>(identity_.choices, 1)) {}

  void push(std::uint32_t choice, const Event& event, Tape& tape) override;
  void end(bool marker, Tape& tape) override;
  void frame(std::string_view json, Tape& tape) override { write(json, tape); }
  std::string_view stream_type() const override {
    return identity_.as_array ? "application/json" : "text/event-stream";
  }
  std::string body(std::span<const EventLog> choices) const override;
  std::string error_body(int status, std::string_view message) const override {
    return gemini_error_json(status, message);
  }

 private:
  struct Choice {
    std::vector<LoggedCall> calls;
    std::string thinking;
    std::string refusal;
  };

  void write(std::string_view json, Tape& tape);
  void write_parts(std::uint32_t choice, std::string_view parts, Tape& tape);
  void finish(std::uint32_t choice, FinishReason reason, Tape& tape);
  void insert_faulty_frames(Tape& tape);
  void append_candidate(std::string& out, std::uint32_t choice, std::string_view parts,
                        std::string_view finish, std::string_view refusal) const;
  void append_end(std::string& out) const;
  std::string finish_json(FinishReason reason, bool refused) const;
  std::string parts_of(const EventLog& log) const;

  const Faults& faults_;
  ReplyIdentity identity_;
  FrameWriter frames_;
  std::vector<Choice> choices_;
  Usage usage_;
  std::uint32_t deltas_ = 0;
  std::uint32_t elements_ = 0;  // of the array
  bool inserted_ = false;       // the frames of insert_faulty_frames() are out
  bool failed_ = false;         // an error ended the stream
};

void GeminiReply::push(std::uint32_t index, const Event& event, Tape& tape) {
  if (failed_) return;
  Choice& choice = choices_[index];
  std::string part;
  const auto call_at = [&](CallIndex call) -> LoggedCall& {
    if (choice.calls.size() <= call) choice.calls.resize(call + 1);
    return choice.calls[call];
  };
  std::visit(Overloaded{
                 [&](const TextDelta& e) { append_text(part, e.text, false); },
                 [&](const ReasoningDelta& e) {
                   choice.thinking += e.text;
                   append_text(part, e.text, true);
                 },
                 [&](const RefusalDelta& e) { choice.refusal += e.text; },
                 [&](const CallStarted& e) {
                   call_at(e.call).name = e.name;
                   call_at(e.call).id = e.native_id;
                 },
                 [&](const ArgumentsDelta& e) { call_at(e.call).arguments += e.bytes; },
                 [&](const CallFinished& e) {
                   append_gemini_call(part, call_at(e.call), e.call == 0, faults_);
                 },
                 [&](const FieldReported&) {},
                 [&](const UsageReported& e) { usage_ = e.usage; },
                 [&](const TurnFinished& e) { finish(index, e.reason, tape); },
             },
             event);
  if (part.empty()) return;
  if (deltas_++ > 0) insert_faulty_frames(tape);
  if (!failed_) write_parts(index, part, tape);
}

void GeminiReply::write(std::string_view json, Tape& tape) {
  if (!identity_.as_array) return frames_.write(json, tape);
  tape.bytes().append(elements_++ == 0 ? "[" : ",\r\n").append(json);
  tape.end_frame();
}

void GeminiReply::write_parts(std::uint32_t choice, std::string_view parts, Tape& tape) {
  std::string data = "{\"candidates\":[";
  append_candidate(data, choice, parts, {}, {});
  append_end(data += "]");
  write(data, tape);
}

void GeminiReply::append_candidate(std::string& out, std::uint32_t choice, std::string_view parts,
                                   std::string_view finish, std::string_view refusal) const {
  json::ObjectWriter candidate(out);
  candidate.key("content").append("{\"parts\":[").append(parts).append("],\"role\":\"model\"}");
  if (!finish.empty()) candidate.raw("finishReason", finish);
  if (!refusal.empty()) append_json_bytes(candidate.key("finishMessage"), refusal);
  candidate.integer("index", choice);
  candidate.close();
}

// What stands behind the candidates.
void GeminiReply::append_end(std::string& out) const {
  if (!faults_.has(Fault::no_usage)) {
    json::ObjectWriter usage(out += ",\"usageMetadata\":");
    usage.integer("promptTokenCount", usage_.prompt_tokens);
    usage.integer("candidatesTokenCount", usage_.completion_tokens - usage_.reasoning_tokens);
    usage.integer("totalTokenCount", usage_.prompt_tokens + usage_.completion_tokens);
    if (usage_.cached_tokens > 0) usage.integer("cachedContentTokenCount", usage_.cached_tokens);
    if (usage_.reasoning_tokens > 0) usage.integer("thoughtsTokenCount", usage_.reasoning_tokens);
    usage.close();
  }
  json::append_string(out += ",\"modelVersion\":", identity_.model);
  json::append_string(out += ",\"responseId\":", identity_.id);
  out += "}";
}

// Sits behind the first delta, or before the finish reason.
void GeminiReply::insert_faulty_frames(Tape& tape) {
  if (std::exchange(inserted_, true)) return;
  if (faults_.has(Fault::bad_json_frame)) {
    write(R"({"candidates":[{"content":{"parts":[{"text":"bro)", tape);
  }
  if (faults_.has(Fault::empty_frame)) write("", tape);
  if (faults_.has(Fault::non_object_frame)) write("[1,2]", tape);
  for (const Fault fault : {Fault::error_mid, Fault::error_mid_done, Fault::error_event,
                            Fault::error_string, Fault::error_in_choice}) {
    failed_ = failed_ || faults_.has(fault);
  }
  if (failed_) write(gemini_error_json(503, "The model is overloaded."), tape);
}

// JSON; empty: none.
std::string GeminiReply::finish_json(FinishReason reason, bool refused) const {
  std::string_view word = finish_word(refused ? FinishReason::content_filter : reason);
  if (faults_.finish() == "none") return {};
  if (!faults_.finish().empty()) word = faults_.finish();
  if (word == "empty") word = "";
  std::string json;
  append_json_bytes(json, word);
  return json;
}

void GeminiReply::finish(std::uint32_t index, FinishReason reason, Tape& tape) {
  insert_faulty_frames(tape);
  const Choice& choice = choices_[index];
  const std::string word = finish_json(reason, !choice.refusal.empty());
  if (failed_ || word.empty()) return;
  std::string parts = "{\"text\":\"\"";
  if (!choice.thinking.empty() && choice.calls.empty()) append_signature(parts, choice.thinking);
  std::string data = "{\"candidates\":[";
  append_candidate(data, index, parts + "}", word, choice.refusal);
  append_end(data += "]");
  write(data, tape);
  if (faults_.has(Fault::finish_twice)) write(data, tape);
}

void GeminiReply::end(bool marker, Tape& tape) {
  if (!identity_.as_array || !marker || faults_.has(Fault::no_done)) return;
  tape.bytes().append(elements_ == 0 ? "[]" : "]\n");
  tape.end_frame();
}

std::string GeminiReply::parts_of(const EventLog& log) const {
  using Kind = LoggedEvent::Kind;
  const std::vector<LoggedCall> calls = log.calls();
  std::size_t next_call = 0;
  std::string parts;
  const auto part = [&]() -> std::string& { return parts += parts.empty() ? "" : ","; };
  for (const LoggedEvent& event : log.events()) {
    if (event.kind == Kind::text || event.kind == Kind::reasoning) {
      append_text(part(), event.text, event.kind == Kind::reasoning);
    } else if (event.kind == Kind::call && next_call < calls.size()) {
      append_gemini_call(part(), calls[next_call], next_call == 0, faults_);
      ++next_call;
    }
  }
  const std::string thinking = log.reasoning();
  if (!thinking.empty() && calls.empty()) {
    append_signature(part() += "{\"text\":\"\"", thinking);
    parts += "}";
  }
  return parts;
}

std::string GeminiReply::body(std::span<const EventLog> choices) const {
  std::string out = "{\"candidates\":[";
  for (std::uint32_t i = 0; i < choices.size(); ++i) {
    const EventLog& log = choices[i];
    if (i > 0) out += ",";
    const std::string refusal = log.refusal();
    append_candidate(out, i, parts_of(log),
                     finish_json(log.reason().value_or(FinishReason::stop), !refusal.empty()),
                     refusal);
  }
  append_end(out += "]");
  return out;
}

}  // namespace

constinit const ReplyFormat kGeminiReply{
    .name = "gemini",
    .id_prefix = "",
    .call_prefix = "fn_",
    .serves = is_gemini_path,
    .decode = decode_gemini_request,
    .make_encoder = [](ReplyIdentity identity,
                       const Faults& faults) -> std::unique_ptr<ReplyEncoder> {
      return std::make_unique<GeminiReply>(std::move(identity), faults);
    },
};

}  // namespace callgate::script
