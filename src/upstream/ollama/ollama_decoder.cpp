#include "upstream/ollama/ollama_decoder.h"

#include <string>
#include <utility>

#include "upstream/finish_word.h"
#include "upstream/openai_chat/openai_error.h"
#include "upstream/openai_chat/openai_usage.h"

namespace callgate::upstream {
namespace {

// A missing word is `stop`: older servers have none. `load` and `unload` answer requests without messages.
std::optional<FinishReason> reason_said(std::string_view word) {
  if (!is_finish_word(word) || word == "load" || word == "unload") return FinishReason::stop;
  return finish_reason_of(word);
}

}  // namespace

void OllamaDecoder::push(const SseFrame& frame, ChoiceSinks& sinks) {
  if (finished_) return;
  std::string_view line = trimmed(frame.data);
  if (line.empty()) return;
  EventSink& sink = sinks.choice(0);
  if (!document_.empty()) return continue_document(line, sink);
  // Some servers send these lines as server-sent events.
  constexpr std::string_view kField = "data:";
  if (line.starts_with(kField)) line = trimmed(line.substr(kField.size()));
  if (is_end_mark(line)) return end(Ending::end, sink);
  push_line(line, sink);
}

void OllamaDecoder::push_line(std::string_view line, EventSink& sink) {
  if (!reader_.read(line)) return take_unread(line);
  count_mended(reader_.mended(), repairs_);
  const OllamaLine& read = reader_.frame();
  if (read.error.empty() && !read.has_message && !read.done && is_error_answer(line)) {
    return fail_with(decode_openai_error(0, line));
  }
  apply(read, sink);
}

// A line that ends between two values may be the first of several.
void OllamaDecoder::take_unread(std::string_view line) {
  if (names_failure(line)) return lose_words(line);
  if (!line.starts_with('{') && !ends_a_chunk(line)) return count(Repair::frame_invalid);
  scanner_.reset();
  scanner_.push(line);
  const bool goes_on = scanner_.state() == json::Scanner::State::inside && !scanner_.in_string();
  if (!goes_on || !line.starts_with('{')) return lose_chunk(line);
  document_ = line;
}

// After the reason for the end a line can be missed that shows no message: it had the counts.
void OllamaDecoder::lose_chunk(std::string_view line) {
  const bool shows_message = line.find("\"message\"") != std::string_view::npos;
  if (complete() && !shows_message) return count(Repair::frame_invalid);
  fail_with(lost_chunk());
}

void OllamaDecoder::continue_document(std::string_view line, EventSink& sink) {
  const std::size_t taken = scanner_.push(line);
  document_.append(line);
  switch (scanner_.state()) {
    case json::Scanner::State::before:
    case json::Scanner::State::inside:
      scanner_.push("\n");
      document_.push_back('\n');
      if (document_.size() > kMaxHeldBack) fail_with(lost_chunk());
      return;
    case json::Scanner::State::closed: {
      if (taken < line.size()) return fail_with(lost_chunk());
      const std::string whole = std::exchange(document_, {});
      return push_line(whole, sink);
    }
    case json::Scanner::State::failed:
      return fail_with(lost_chunk());
  }
}

void OllamaDecoder::finish(ChoiceSinks& sinks) {
  if (!document_.empty() && !error_) fail_with(lost_chunk());
  end(Ending::closed, sinks.choice(0));
}

// A body is taken as its lines: a whole answer is one.
void OllamaDecoder::push_body(std::string_view body, ChoiceSinks& sinks) {
  push({.event = {}, .data = body, .id = {}}, sinks);
  if (!finished_) finish(sinks);
}

void OllamaDecoder::apply(const OllamaLine& line, EventSink& sink) {
  if (!line.error.empty()) return fail_with(decode_openai_error(0, line.error));
  tracker_.next_document(reader_.mended().escaped > 0);
  seen_ = seen_ || !line.content.empty() || !line.thinking.empty() || !line.calls.empty();
  if (!line.logprobs.empty()) {
    sink.accept(FieldReported{FieldReported::Scope::choice, "logprobs", line.logprobs});
  }
  for (const auto& [name, json] : line.others) {
    sink.accept(FieldReported{FieldReported::Scope::turn, name, json});
  }
  for (const auto& [name, json] : line.message_others) {
    sink.accept(FieldReported{FieldReported::Scope::message, name, json});
  }
  tracker_.push_prose(Prose::reasoning, line.thinking.view(), sink);
  tracker_.push_prose(Prose::text, line.content.view(), sink);
  for (const CallPiece& call : line.calls) {
    if (call.arguments.empty()) continue;
    // One that has an id may be of a line that came twice. Arguments without a name are those of the call that has none.
    const bool rest = call.name.empty() && tracker_.is_prefilled();
    tracker_.push_call(call, call.id.empty() && !rest, repairs_, sink);
    tracker_.end_newest(sink);
  }
  if (holds_too_much(tracker_)) return;
  if (line.done) apply_end(line, sink);
}

// An end without a reason, after nothing was said, is not an answer.
void OllamaDecoder::apply_end(const OllamaLine& line, EventSink& sink) {
  const bool worded = is_finish_word(line.done_reason.view());
  if (!worded && !seen_) return;
  if (worded || !done_) said_ = reason_said(line.done_reason.view());
  done_ = true;
  if (said_ == FinishReason::upstream_error) return fail_at_end(line.done_reason.view());
  apply_usage(line, sink);
}

// A prompt that the server still had may have no count.
void OllamaDecoder::apply_usage(const OllamaLine& line, EventSink& sink) {
  if (!line.prompt_count && !line.count) return;
  Usage usage;
  set_counts(usage, line.prompt_count, line.count, std::nullopt);
  sink.accept(UsageReported{usage});
}

void OllamaDecoder::end(Ending ending, EventSink& sink) {
  if (!begin_end()) return;
  tracker_.finish(!done_ || said_ == FinishReason::length, sink);
  count(Repair::utf8_invalid, tracker_.replaced());
  // `stop` is what the server says of turns with calls.
  sink.accept(TurnFinished{reason_of({done_, said_}, error_ ? Ending::failure : ending, seen_,
                                     tracker_.tally(), FinishReason::stop)});
}

}  // namespace callgate::upstream
