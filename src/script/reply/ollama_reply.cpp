#include "script/reply/ollama_reply.h"

#include <chrono>
#include <utility>
#include <vector>

#include "json/writer.h"
#include "script/reply/json_bytes.h"
#include "script/reply/ollama_request.h"

namespace callgate::script {
namespace {

// Seconds since 1970 as 2026-01-01T00:00:00Z.
std::string time_text(std::int64_t seconds) {
  const std::chrono::sys_seconds time{std::chrono::seconds(seconds)};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  std::string text = std::to_string(static_cast<int>(date.year()));
  const auto add = [&](char before, auto number) {
    const std::string digits = std::to_string(number);
    text.append(1, before).append(digits.size() < 2 ? "0" : "").append(digits);
  };
  add('-', static_cast<unsigned>(date.month()));
  add('-', static_cast<unsigned>(date.day()));
  add('T', clock.hours().count());
  add(':', clock.minutes().count());
  add(':', clock.seconds().count());
  return text + "Z";
}

std::string ollama_error_json(std::string_view message) {
  std::string out;
  json::ObjectWriter object(out);
  object.string("error", message);
  object.close();
  return out;
}

std::string_view done_word(FinishReason reason) {
  switch (reason) {
    case FinishReason::stop:
    case FinishReason::tool_calls:
      return "stop";
    case FinishReason::length:
      return "length";
    case FinishReason::content_filter:
      return "content_filter";
    case FinishReason::upstream_error:
      return "error";
  }
  return "stop";
}

class OllamaReply final : public ReplyEncoder {
 public:
  OllamaReply(ReplyIdentity identity, const Faults& faults)
      : faults_(faults), identity_(std::move(identity)) {}

  void push(std::uint32_t choice, const Event& event, Tape& tape) override;
  void end(bool marker, Tape& tape) override;
  void frame(std::string_view json, Tape& tape) override;
  std::string_view stream_type() const override { return "application/x-ndjson"; }
  std::string body(std::span<const EventLog> choices) const override;
  std::string error_body(int, std::string_view message) const override {
    return ollama_error_json(message);
  }

 private:
  struct CallState {
    std::string id;
    std::string name;
    std::string arguments;
  };

  std::string line_of(std::string_view members, bool done, FinishReason reason) const;
  void say(std::string_view field, std::string_view text, Tape& tape);
  void write_message(std::string_view members, Tape& tape);
  void finish_call(CallIndex call, Tape& tape);
  void write_calls(Tape& tape);
  void insert_faulty_frames(Tape& tape);
  std::string call_json(CallIndex index, const CallState& call) const;
  void append_counts(json::ObjectWriter& object) const;

  const Faults& faults_;
  ReplyIdentity identity_;
  Usage usage_;
  std::vector<CallState> calls_;
  std::string collected_;  // calls that leave in one line
  FinishReason reason_ = FinishReason::stop;
  std::uint32_t lines_ = 0;
  bool inserted_ = false;
  bool failed_ = false;
};

void OllamaReply::push(std::uint32_t choice, const Event& event, Tape& tape) {
  if (failed_ || choice != 0) return;
  const auto call_at = [&](CallIndex index) -> CallState& {
    if (calls_.size() <= index) calls_.resize(index + 1);
    return calls_[index];
  };
  std::visit(Overloaded{
                 [&](const TextDelta& e) { say("content", e.text, tape); },
                 [&](const ReasoningDelta& e) { say("thinking", e.text, tape); },
                 [&](const RefusalDelta& e) { say("content", e.text, tape); },
                 [&](const CallStarted& e) {
                   call_at(e.call) = {std::string(e.native_id), std::string(e.name), {}};
                 },
                 [&](const ArgumentsDelta& e) { call_at(e.call).arguments += e.bytes; },
                 [&](const CallFinished& e) { finish_call(e.call, tape); },
                 [&](const FieldReported&) {},
                 [&](const UsageReported& e) { usage_ = e.usage; },
                 [&](const TurnFinished& e) {
                   write_calls(tape);
                   reason_ = e.reason;
                 },
             },
             event);
}

void OllamaReply::frame(std::string_view json, Tape& tape) {
  ++lines_;
  tape.bytes().append(json).append(faults_.has(Fault::crlf) ? "\r\n" : "\n");
  tape.end_frame();
}

void OllamaReply::say(std::string_view field, std::string_view text, Tape& tape) {
  write_calls(tape);
  std::string members = field == "content" ? "" : R"("content":"",)";
  members.append("\"").append(field).append("\":");
  append_json_bytes(members, text);
  write_message(members, tape);
}

void OllamaReply::write_message(std::string_view members, Tape& tape) {
  if (lines_ > 0) insert_faulty_frames(tape);
  if (!failed_) frame(line_of(members, false, FinishReason::stop), tape);
}

// Sits behind the first line, or before the last one.
void OllamaReply::insert_faulty_frames(Tape& tape) {
  if (std::exchange(inserted_, true)) return;
  if (faults_.has(Fault::bad_json_frame)) frame(R"({"message":{"content":"bro)", tape);
  if (faults_.has(Fault::empty_frame)) frame("", tape);
  if (faults_.has(Fault::non_object_frame)) frame("[1,2]", tape);
  for (const Fault fault : {Fault::error_mid, Fault::error_mid_done, Fault::error_event,
                            Fault::error_string, Fault::error_in_choice}) {
    failed_ = failed_ || faults_.has(fault);
  }
  if (failed_) frame(ollama_error_json("an error was encountered while running the model"), tape);
}

std::string OllamaReply::call_json(CallIndex index, const CallState& call) const {
  std::string out;
  json::ObjectWriter item(out);
  if (!faults_.has(Fault::no_id)) item.string("id", faults_.has(Fault::empty_id) ? "" : call.id);
  json::ObjectWriter function(item.key("function"));
  if (!faults_.has(Fault::no_index)) {
    const bool zero = faults_.has(Fault::reuse_index);
    function.integer("index", zero ? 0 : index + (faults_.has(Fault::index_from_one) ? 1 : 0));
  }
  if (!faults_.has(Fault::no_name)) function.string("name", call.name);
  std::string arguments;
  append_arguments_value(arguments, call.arguments);
  json::append_compact(function.key("arguments"), arguments);  // a line has no line feed
  function.close();
  item.close();
  return out;
}

void OllamaReply::finish_call(CallIndex index, Tape& tape) {
  if (!collected_.empty()) collected_.push_back(',');
  collected_ += call_json(index, calls_[index]);
  if (!faults_.has(Fault::calls_in_one_frame)) write_calls(tape);
}

void OllamaReply::write_calls(Tape& tape) {
  if (collected_.empty()) return;
  const std::string calls = std::exchange(collected_, {});
  write_message(R"("content":"","tool_calls":[)" + calls + "]", tape);
}

// Durations are made up: a millisecond per token.
void OllamaReply::append_counts(json::ObjectWriter& object) const {
  constexpr std::int64_t kToken = 1'000'000;
  object.integer("total_duration", usage_.total_tokens * kToken);
  object.integer("load_duration", kToken);
  if (faults_.has(Fault::no_usage)) return;
  object.integer("prompt_eval_count", usage_.prompt_tokens);
  object.integer("prompt_eval_duration", usage_.prompt_tokens * kToken);
  object.integer("eval_count", usage_.completion_tokens);
  object.integer("eval_duration", usage_.completion_tokens * kToken);
}

std::string OllamaReply::line_of(std::string_view members, bool done, FinishReason reason) const {
  std::string out;
  json::ObjectWriter object(out);
  object.string("model", identity_.model);
  object.string("created_at", time_text(identity_.created));
  object.raw("message", R"({"role":"assistant",)" + std::string(members) + "}");
  object.boolean("done", done);
  if (done) {
    const std::string& word = faults_.finish();
    if (!faults_.has(Fault::no_finish_key)) {
      object.string("done_reason", word.empty()      ? done_word(reason)
                                   : word == "empty" ? std::string_view()
                                                     : std::string_view(word));
    }
    append_counts(object);
  }
  object.close();
  return out;
}

void OllamaReply::end(bool marker, Tape& tape) {
  insert_faulty_frames(tape);
  const bool ends = !failed_ || faults_.has(Fault::error_mid_done);
  if (!marker || !ends || faults_.has(Fault::no_done) || faults_.finish() == "none") return;
  frame(line_of(R"("content":"")", true, reason_), tape);
  if (faults_.has(Fault::finish_twice)) frame(line_of(R"("content":"")", true, reason_), tape);
  if (faults_.has(Fault::text_after_done)) {
    frame(line_of(R"("content":"late")", false, reason_), tape);
  }
}

std::string OllamaReply::body(std::span<const EventLog> choices) const {
  const EventLog& log = choices.front();
  std::string members = "\"content\":";
  append_json_bytes(members, log.text() + log.refusal());
  if (const std::string thinking = log.reasoning(); !thinking.empty()) {
    append_json_bytes(members += ",\"thinking\":", thinking);
  }
  std::string calls;
  CallIndex index = 0;
  for (const LoggedCall& call : log.calls()) {
    if (index > 0) calls.push_back(',');
    calls += call_json(index++, {call.id, call.name, call.arguments});
  }
  if (!calls.empty()) members += ",\"tool_calls\":[" + calls + "]";
  return line_of(members, true, log.reason().value_or(FinishReason::stop));
}

void append_model(std::string& out, std::string_view name) {
  json::ObjectWriter model(out);
  model.string("name", name);
  model.string("model", name);
  model.string("modified_at", time_text(0));
  model.integer("size", 0);
  model.string("digest", "scripted");
  model.raw("details", R"({"format":"script","family":"script","families":["script"]})");
  model.close();
}

}  // namespace

bool is_ollama_catalog(std::string_view path) {
  for (const std::string_view known : {"/api/tags", "/api/version", "/api/ps", "/api/show"}) {
    if (path.ends_with(known)) return true;
  }
  return false;
}

std::optional<std::string> ollama_catalog(std::string_view path, std::string_view body,
                                          std::span<const std::string> models) {
  if (path.ends_with("/api/version")) return R"({"version":"0.12.10"})";
  if (path.ends_with("/api/show")) {
    const std::string wanted = ollama_model_named(body);
    for (const std::string& name : models) {
      if (name != wanted) continue;
      return R"({"modelfile":"","parameters":"","template":"","details":{"format":"script","family":"script","families":["script"]},)"
             R"("model_info":{},"capabilities":["completion","tools","thinking","vision"]})";
    }
    return std::nullopt;
  }
  if (!is_ollama_catalog(path)) return std::nullopt;
  std::string out = "{\"models\":[";
  for (const std::string& name : models) {
    if (out.back() != '[') out.push_back(',');
    append_model(out, name);
  }
  return out + "]}";
}

constinit const ReplyFormat kOllamaReply{
    .name = "ollama",
    .id_prefix = "",
    .call_prefix = "call_",
    .serves = [](std::string_view path) { return path.ends_with("/api/chat"); },
    .decode = [](std::string_view, std::string_view body) { return decode_ollama_request(body); },
    .make_encoder = [](ReplyIdentity identity,
                       const Faults& faults) -> std::unique_ptr<ReplyEncoder> {
      return std::make_unique<OllamaReply>(std::move(identity), faults);
    },
};

}  // namespace callgate::script
