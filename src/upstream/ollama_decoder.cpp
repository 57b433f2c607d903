#include "upstream/ollama_decoder.h"

#include <string>
#include <utility>

#include "upstream/finish_word.h"
#include "upstream/openai_error.h"
#include "upstream/openai_usage.h"

namespace callgate::upstream {
namespace {

// Bytes of later calls and prose that may be held back while an earlier call is open.
constexpr std::size_t kMaxHeldBack = std::size_t{8} << 20;

// A missing word is `stop`: older servers have none. `load` and `unload` answer requests without messages.
std::optional<FinishReason> reason_said(std::string_view word) {
  if (word.empty() || word == "load" || word == "unload") return FinishReason::stop;
  return finish_reason_of(word);
}

}  // namespace

void OllamaDecoder::push(const SseFrame& frame, ChoiceSinks& sinks) {
  if (finished_) return;
  if (!reader_.read(frame.data)) return count(Repair::frame_invalid);
  count(Repair::utf8_invalid, reader_.replaced());
  apply(reader_.line(), sinks.choice(0));
}

// A body is taken as its lines: a whole answer is one.
void OllamaDecoder::push_body(std::string_view body, ChoiceSinks& sinks) {
  push({.data = body}, sinks);
  if (!finished_) finish(sinks);
}

void OllamaDecoder::apply(const OllamaLine& line, EventSink& sink) {
  if (!line.error.empty()) return fail_with(decode_openai_error(0, line.error));
  seen_ = seen_ || line.has_message;
  if (!line.logprobs.empty()) {
    sink.accept(FieldReported{FieldReported::Scope::choice, "logprobs", line.logprobs});
  }
  tracker_.push_prose(Prose::reasoning, line.thinking.view(), sink);
  tracker_.push_prose(Prose::text, line.content.view(), sink);
  for (const CallPiece& call : line.calls) {
    if (call.arguments.empty()) continue;
    // One that has an id may be of a line that came twice.
    const bool whole = call.id.empty();
    tracker_.push_call(call, whole, repairs_, sink);
  }
  if (tracker_.held_back() > kMaxHeldBack) {
    return fail_with({.code = ErrorCode::upstream_failed,
                      .message = "upstream wrote too much behind a call that it did not end"});
  }
  if (!line.done) return;
  done_ = true;
  said_ = reason_said(line.done_reason.view());
  if (said_ == FinishReason::upstream_error) {
    return fail_with({.code = ErrorCode::upstream_failed,
                      .message = "upstream ended the turn with an error",
                      .upstream_code = std::string(line.done_reason.view())});
  }
  apply_usage(line, sink);
  end(Ending::end, sink);
}

// A prompt that the server still had may have no count.
void OllamaDecoder::apply_usage(const OllamaLine& line, EventSink& sink) {
  if (!line.prompt_count && !line.count) return;
  Usage usage;
  set_counts(usage, line.prompt_count, line.count, std::nullopt);
  sink.accept(UsageReported{usage});
}

void OllamaDecoder::end(Ending ending, EventSink& sink) {
  if (std::exchange(ended_, true)) return;
  finished_ = true;
  tracker_.finish(!done_ || said_ == FinishReason::length, sink);
  sink.accept(TurnFinished{reason_of(error_ ? Ending::failure : ending)});
}

FinishReason OllamaDecoder::reason_of(Ending ending) {
  TurnEnd end = end_of_turn({done_, said_}, ending, seen_, tracker_.tally());
  // `stop` is what the server says of turns with calls.
  if (end.repair && !(done_ && said_ == FinishReason::stop)) count(*end.repair);
  if (end.error) fail_with(std::move(*end.error));
  return end.reason;
}

void OllamaDecoder::fail_with(Error error) {
  if (!error_) error_ = std::move(error);
  finished_ = true;
}

}  // namespace callgate::upstream
