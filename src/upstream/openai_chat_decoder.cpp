#include "upstream/openai_chat_decoder.h"

#include <utility>

#include "json/reader.h"
#include "upstream/finish_word.h"
#include "upstream/openai_error.h"
#include "upstream/repaired_read.h"

namespace callgate::upstream {
namespace {

// Bytes of later calls and prose that one choice may hold back while an earlier call is open.
constexpr std::size_t kMaxHeldBack = std::size_t{8} << 20;

// [DONE], also as a JSON string or without its brackets.
bool is_done(std::string_view data) {
  return data == "[DONE]" || data == "\"[DONE]\"" || data == "[done]" || data == "DONE";
}

// A compatible server may wrap its answer in a list.
std::string_view unwrapped(std::string_view body) {
  if (body.empty() || body.front() != '[') return body;
  json::Reader in(body);
  if (!in.next_element()) return body;
  const std::string_view first = in.raw();
  while (in.next_element()) in.skip();
  return in.finish() ? first : body;
}

}  // namespace

void OpenaiChatDecoder::push(const SseFrame& frame, ChoiceSinks& sinks) {
  if (finished_) return;
  const std::string_view data = trimmed(frame.data);
  if (data.empty()) return;
  if (is_done(data)) return end(Ending::end, sinks);
  if (!reader_.read(data)) {
    if (frame.event == "error") return fail_with(decode_openai_error(0, data));
    return count(Repair::frame_invalid);
  }
  count(Repair::utf8_invalid, reader_.replaced());
  if (frame.event == "error" && reader_.answer().error.empty()) {
    return fail_with(decode_openai_error(0, data));
  }
  apply(reader_.answer(), sinks, false);
}

void OpenaiChatDecoder::push_body(std::string_view body, ChoiceSinks& sinks) {
  if (finished_) return;
  const std::string_view document = unwrapped(trimmed(body));
  if (!reader_.read(document)) {
    return fail_with({.code = ErrorCode::upstream_failed,
                      .message = "upstream answered with a body that is not a JSON object"});
  }
  count(Repair::utf8_invalid, reader_.replaced());
  const Answer& answer = reader_.answer();
  if (answer.error.empty() && answer.choices.empty()) {
    return fail_with({.code = ErrorCode::upstream_failed,
                      .message = "upstream answered with a body that has no choices"});
  }
  apply(answer, sinks, true);
  if (!finished_) end(Ending::end, sinks);
}

void OpenaiChatDecoder::finish(ChoiceSinks& sinks) { end(Ending::closed, sinks); }

void OpenaiChatDecoder::abort(ChoiceSinks& sinks) { end(Ending::failure, sinks); }

void OpenaiChatDecoder::apply(const Answer& answer, ChoiceSinks& sinks, bool whole) {
  if (!answer.error.empty()) return fail_with(decode_openai_error(0, answer.error));
  if (choices_.empty()) choices_.resize(sinks.count());
  apply_turn_fields(answer, sinks.choice(0));
  for (const ChoicePiece& piece : answer.choices) {
    const std::optional<std::uint32_t> position = position_of(piece.index, sinks.count());
    if (!position || choices_[*position].finish_seen) continue;
    apply_choice(piece, choices_[*position], sinks.choice(*position), whole);
    if (finished_) return;
  }
  if (answer.usage && (answer.usage != usage_ || answer.usage_json != usage_json_)) {
    usage_ = answer.usage;
    usage_json_ = answer.usage_json;
    sinks.choice(0).accept(UsageReported{*usage_, usage_json_});
  }
}

void OpenaiChatDecoder::apply_turn_fields(const Answer& answer, EventSink& sink) {
  const auto report = [&](std::string_view name, std::string_view json, std::string& last) {
    if (json.empty() || json == last) return;
    last = json;
    sink.accept(FieldReported{FieldReported::Scope::turn, name, json});
  };
  report("service_tier", answer.service_tier, service_tier_);
  report("system_fingerprint", answer.system_fingerprint, system_fingerprint_);
  turn_members_.report(answer.others, sink);
}

void OpenaiChatDecoder::apply_choice(const ChoicePiece& piece, Choice& choice, EventSink& sink,
                                     bool whole) {
  choice.seen = true;
  if (piece.source == ChoicePiece::Source::delta) choice.streamed = true;
  if (piece.source != ChoicePiece::Source::message || !choice.streamed) {
    if (!piece.logprobs.empty()) {
      sink.accept(FieldReported{FieldReported::Scope::choice, "logprobs", piece.logprobs});
    }
    report_others(FieldReported::Scope::choice, piece.others, whole, sink);
    CallTracker& tracker = choice.tracker;
    tracker.push_prose(Prose::reasoning, piece.reasoning.view(), sink);
    if (piece.other_reasoning.view() != piece.reasoning.view()) {
      tracker.push_prose(Prose::reasoning, piece.other_reasoning.view(), sink);
    }
    tracker.push_prose(Prose::text, piece.text.view(), sink);
    tracker.push_prose(Prose::refusal, piece.refusal.view(), sink);
    report_others(FieldReported::Scope::message, piece.message_others, whole, sink);
    for (const CallPiece& call : piece.calls) tracker.push_call(call, whole, repairs_, sink);
  }
  if (!piece.error.empty()) return fail_with(decode_openai_error(0, piece.error));
  if (choice.tracker.held_back() > kMaxHeldBack) {
    return fail_with({.code = ErrorCode::upstream_failed,
                      .message = "upstream wrote too much behind a call that it did not end"});
  }
  if (piece.finish.empty()) return;
  choice.finish_seen = true;
  choice.said = finish_reason_of(piece.finish.view());
  if (choice.said == FinishReason::upstream_error) {
    fail_with({.code = ErrorCode::upstream_failed,
               .message = "upstream ended the turn with an error",
               .upstream_code = std::string(piece.finish.view())});
  }
}

// Whoever asked for one choice gets the first that comes, whatever its index; others are not wanted.
std::optional<std::uint32_t> OpenaiChatDecoder::position_of(std::int64_t index,
                                                            std::uint32_t count) {
  if (count == 1) {
    if (!only_choice_) only_choice_ = index;
    if (index != *only_choice_) return std::nullopt;
    return 0;
  }
  if (index >= std::int64_t{count}) return std::nullopt;
  return static_cast<std::uint32_t>(index);
}

void OpenaiChatDecoder::end(Ending ending, ChoiceSinks& sinks) {
  if (std::exchange(ended_, true)) return;
  finished_ = true;
  if (choices_.empty()) choices_.resize(sinks.count());
  if (error_) ending = Ending::failure;
  for (std::uint32_t i = 0; i < choices_.size(); ++i) {
    Choice& choice = choices_[i];
    if (!choice.seen && i > 0) continue;
    EventSink& sink = sinks.choice(i);
    const bool unsaid = !choice.finish_seen && ending != Ending::end;
    choice.tracker.finish(unsaid || choice.said == FinishReason::length, sink);
    sink.accept(TurnFinished{reason_of(choice, ending)});
  }
}

FinishReason OpenaiChatDecoder::reason_of(const Choice& choice, Ending ending) {
  TurnEnd end =
      end_of_turn({choice.finish_seen, choice.said}, ending, choice.seen, choice.tracker.tally());
  if (end.repair) count(*end.repair);
  if (end.error) fail_with(std::move(*end.error));
  return end.reason;
}

bool OpenaiChatDecoder::complete() const {
  bool any = false;
  for (const Choice& choice : choices_) {
    if (choice.seen && !choice.finish_seen) return false;
    any = any || choice.seen;
  }
  return any && !error_;
}

void OpenaiChatDecoder::fail_with(Error error) {
  if (!error_) error_ = std::move(error);
  finished_ = true;
}

}  // namespace callgate::upstream
