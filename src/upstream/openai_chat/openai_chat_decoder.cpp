#include "upstream/openai_chat/openai_chat_decoder.h"

#include <algorithm>
#include <utility>

#include "json/scanner.h"
#include "upstream/finish_word.h"
#include "upstream/openai_chat/openai_error.h"

namespace callgate::upstream {
namespace {

// The words that stand for "not yet".
bool is_no_word(std::string_view word) {
  return word.empty() || word == "null" || word == "none" || word == "None" || word == "NULL";
}

// A byte around or between the chunks of a list.
bool is_of_list(std::string_view data) {
  const char first = data.front();
  return first == ',' || first == ']' || (first == '[' && trimmed(data.substr(1)).starts_with('{'));
}

// A choice begins in a chunk that cannot be read.
bool shows_a_choice(std::string_view chunk) {
  std::size_t at = chunk.find("\"choices\"");
  if (at == std::string_view::npos) return false;
  at = chunk.find_first_not_of(" \t\r\n:[", at + 9);
  return at != std::string_view::npos && chunk[at] == '{';
}

}  // namespace

void OpenaiChatDecoder::push(const SseFrame& frame, ChoiceSinks& sinks) {
  if (finished_) return;
  const bool bare = frame.data.starts_with('{') && frame.data.ends_with('}');
  const std::string_view data = bare ? frame.data : trimmed(frame.data);
  if (data.empty() && frame.event == "error") return fail_with("upstream sent an error event");
  if (data.empty()) return;
  if (is_end_mark(data)) return end(Ending::end, sinks);
  const bool readable = reader_.read(data);
  if (frame.event == "error" && (!readable || reader_.answer().error.empty())) {
    return fail_with(decode_openai_error(0, data));
  }
  if (!readable) return push_values(data, sinks);
  if (const Text* words = reader_.other_words()) return apply_words(*words, sinks);
  count_mended(reader_.mended(), repairs_);
  apply(reader_.answer(), sinks, false);
}

// Frames of several chunks, as servers send them that forget the blank line, of lists of chunks, and of words.
void OpenaiChatDecoder::push_values(std::string_view data, ChoiceSinks& sinks) {
  while (!finished_) {
    data = trimmed(data);
    if (data.empty()) return;
    if (data.front() == '{') {
      data.remove_prefix(push_value(data, sinks));
    } else if (is_of_list(data)) {
      data.remove_prefix(1);
    } else if (data.starts_with("data:")) {
      data.remove_prefix(5);
    } else if (data.front() == '}') {
      count(Repair::frame_invalid);
      data.remove_prefix(1);
    } else {
      const std::string_view line = data.substr(0, data.find('\n'));
      if (is_end_mark(trimmed(line))) return end(Ending::end, sinks);
      if (names_failure(line)) return lose_words(line);
      count(Repair::frame_invalid);
      data.remove_prefix(line.size());
    }
  }
}

// The chunk that `data` begins with. Returns its size.
std::size_t OpenaiChatDecoder::push_value(std::string_view data, ChoiceSinks& sinks) {
  json::Scanner scanner;
  const std::size_t size = scanner.push(data);
  if (scanner.state() != json::Scanner::State::closed) {
    lose_chunk(data);
    return data.size();
  }
  const std::string_view chunk = data.substr(0, size);
  if (reader_.read(chunk)) {
    count_mended(reader_.mended(), repairs_);
    apply(reader_.answer(), sinks, false);
  } else {
    lose_chunk(chunk);
  }
  return size;
}

// After the end of every choice a chunk can be missed that shows no choice: it had the usage.
void OpenaiChatDecoder::lose_chunk(std::string_view chunk) {
  if (complete() && !shows_a_choice(chunk)) return count(Repair::frame_invalid);
  fail_with(lost_chunk());
}

void OpenaiChatDecoder::push_body(std::string_view body, ChoiceSinks& sinks) {
  if (finished_) return;
  const std::string_view document = trimmed(body);
  if (!reader_.read(document)) return push_odd_body(document, sinks);
  count_mended(reader_.mended(), repairs_);
  const Answer& answer = reader_.answer();
  if (answer.error.empty() && answer.choices.empty()) {
    return fail_with("upstream answered with a body that has no choices");
  }
  apply(answer, sinks, true);
  if (!finished_) end(Ending::end, sinks);
}

// A list around the answer, or chunks without anything that makes them frames.
void OpenaiChatDecoder::push_odd_body(std::string_view body, ChoiceSinks& sinks) {
  const std::string_view values = body.starts_with('[') ? trimmed(body.substr(1)) : body;
  json::Scanner scanner;
  scanner.push(values);
  const bool object = values.starts_with('{') && scanner.state() == json::Scanner::State::closed;
  if (!object) {
    return fail_with("upstream answered with a body that is not a JSON object");
  }
  push_values(body, sinks);
  if (!finished_) end(Ending::closed, sinks);
}

void OpenaiChatDecoder::begin(ChoiceSinks& sinks) {
  if (!choices_.empty()) return;
  choices_.resize(sinks.count());
  for (Choice& choice : choices_) choice.tracker.expect_disorder(tools_);
}

void OpenaiChatDecoder::apply(const Answer& answer, ChoiceSinks& sinks, bool whole) {
  if (!answer.error.empty()) return fail_with(decode_openai_error(0, answer.error));
  begin(sinks);
  apply_turn_fields(answer, sinks.choice(0));
  for (const ChoicePiece& piece : answer.choices) {
    const std::optional<std::uint32_t> position = position_of(piece.index, sinks.count());
    if (!position) continue;
    apply_choice(piece, choices_[*position], sinks.choice(*position), whole);
    if (finished_) return;
  }
  if (answer.usage && (answer.usage != usage_ || answer.usage_json != usage_json_)) {
    usage_ = answer.usage;
    if (!whole) usage_json_ = answer.usage_json;  // for the next chunk
    sinks.choice(0).accept(UsageReported{*usage_, answer.usage_json});
  }
}

// What apply() does for a document that adds words to the one before it.
void OpenaiChatDecoder::apply_words(const Text& words, ChoiceSinks& sinks) {
  const ChoicePiece& piece = *reader_.answer().choices.begin();
  const std::optional<std::uint32_t> position = position_of(piece.index, sinks.count());
  if (!position) return;
  Choice& choice = choices_[*position];
  EventSink& sink = sinks.choice(*position);
  choice.spoke = choice.spoke_since = true;
  choice.tracker.next_document(false);
  if (!piece.calls.empty()) {
    choice.tracker.push_call(*piece.calls.begin(), false, repairs_, sink);
  } else {
    const Prose kind = &words == &piece.text ? Prose::text : Prose::reasoning;
    choice.tracker.push_prose(kind, words.view(), sink);
  }
  (void)holds_too_much(choice.tracker);
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
  if (piece.source == ChoicePiece::Source::delta || !piece.plain.empty()) choice.streamed = true;
  if (piece.source != ChoicePiece::Source::message || !choice.streamed) {
    apply_message(piece, choice, sink, whole);
  }
  if (!piece.error.empty()) return fail_with(decode_openai_error(0, piece.error));
  if (holds_too_much(choice.tracker)) return;
  apply_finish(piece.finish.view(), choice, sink);
}

void OpenaiChatDecoder::apply_message(const ChoicePiece& piece, Choice& choice, EventSink& sink,
                                      bool whole) {
  if (!piece.logprobs.empty()) {
    sink.accept(FieldReported{FieldReported::Scope::choice, "logprobs", piece.logprobs});
  }
  report_others(FieldReported::Scope::choice, piece.others, whole, sink);
  const Text& text = piece.text.empty() ? piece.plain : piece.text;
  const bool spoke =
      !(piece.reasoning.empty() && piece.other_reasoning.empty() && text.empty() &&
        piece.refusal.empty() && piece.calls.empty() && piece.message_others.empty());
  if (!spoke) return;
  choice.spoke = choice.spoke_since = true;
  CallTracker& tracker = choice.tracker;
  tracker.next_document(reader_.mended().escaped > 0);
  tracker.push_prose(Prose::reasoning, piece.reasoning.view(), sink);
  if (piece.other_reasoning.view() != piece.reasoning.view()) {
    tracker.push_prose(Prose::reasoning, piece.other_reasoning.view(), sink);
  }
  tracker.push_prose(Prose::text, text.view(), sink);
  tracker.push_prose(Prose::refusal, piece.refusal.view(), sink);
  report_others(FieldReported::Scope::message, piece.message_others, whole, sink);
  for (const CallPiece& call : piece.calls) tracker.push_call(call, whole, repairs_, sink);
}

// The last word counts, except that a plain end right after another word takes nothing back.
void OpenaiChatDecoder::apply_finish(std::string_view word, Choice& choice, EventSink& sink) {
  if (is_no_word(word)) return;
  choice.spoke = true;
  const std::optional<FinishReason> reason = finish_reason_of(word);
  if (!reason) return;
  if (*reason == FinishReason::upstream_error) return fail_at_end(word);
  const bool plain = *reason == FinishReason::stop || *reason == FinishReason::tool_calls;
  if (!choice.said || choice.spoke_since || !plain) choice.said = reason;
  choice.spoke_since = false;
  if (choice.said == FinishReason::tool_calls) choice.tracker.end_newest(sink);
}

// A caller that asked for one choice gets the first that comes, whatever its index; others are not wanted.
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
  if (!begin_end()) return;
  begin(sinks);
  if (ending == Ending::end && is_empty()) {
    fail_with("upstream ended its answer without saying anything");
  }
  if (error_) ending = Ending::failure;
  for (std::uint32_t i = 0; i < choices_.size(); ++i) {
    Choice& choice = choices_[i];
    if (!choice.seen && i > 0) continue;
    EventSink& sink = sinks.choice(i);
    const bool cut = ending == Ending::failure || (!choice.said && ending == Ending::closed);
    choice.tracker.finish(cut || choice.said == FinishReason::length, sink);
    count(Repair::utf8_invalid, choice.tracker.replaced());
    const TurnWord word =
        ending == Ending::failure ? TurnWord{} : TurnWord{choice.said.has_value(), choice.said};
    sink.accept(TurnFinished{reason_of(word, ending, choice.seen, choice.tracker.tally())});
  }
}

bool OpenaiChatDecoder::is_empty() const {
  return std::none_of(choices_.begin(), choices_.end(),
                      [](const Choice& choice) { return choice.spoke; });
}

// Arguments that have not ended may still come, unless the limit cut them.
bool OpenaiChatDecoder::complete() const {
  bool any = false;
  for (const Choice& choice : choices_) {
    if (!choice.seen) continue;
    if (!choice.said) return false;
    const bool plain = choice.said == FinishReason::stop || choice.said == FinishReason::tool_calls;
    if (plain && choice.tracker.is_open()) return false;
    any = true;
  }
  return any && !error_;
}

}  // namespace callgate::upstream
