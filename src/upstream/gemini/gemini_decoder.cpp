#include "upstream/gemini/gemini_decoder.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/function_ref.h"
#include "chat/same_format.h"
#include "json/each.h"
#include "json/reader.h"
#include "json/writer.h"
#include "upstream/finish_word.h"
#include "upstream/gemini/gemini.h"
#include "upstream/gemini/gemini_error.h"
#include "upstream/gemini/gemini_logprobs.h"

namespace callgate::upstream {
namespace {

struct GeminiFinish {
  std::string_view word;
  FinishReason reason;
};

// upstream_error: the model failed at writing its turn, and asking again may help. Words that are not here, such as OTHER,
// say nothing.
constexpr auto kGeminiFinishes = std::to_array<GeminiFinish>({
    {"STOP", FinishReason::stop},
    {"MAX_TOKENS", FinishReason::length},
    {"CONTINUATION", FinishReason::length},
    {"SAFETY", FinishReason::content_filter},
    {"RECITATION", FinishReason::content_filter},
    {"LANGUAGE", FinishReason::content_filter},
    {"BLOCKLIST", FinishReason::content_filter},
    {"PROHIBITED_CONTENT", FinishReason::content_filter},
    {"SPII", FinishReason::content_filter},
    {"MODEL_ARMOR", FinishReason::content_filter},
    {"IMAGE_SAFETY", FinishReason::content_filter},
    {"IMAGE_PROHIBITED_CONTENT", FinishReason::content_filter},
    {"IMAGE_RECITATION", FinishReason::content_filter},
    {"MALFORMED_FUNCTION_CALL", FinishReason::upstream_error},
    {"MALFORMED_RESPONSE", FinishReason::upstream_error},
    {"UNEXPECTED_TOOL_CALL", FinishReason::upstream_error},
    {"TOO_MANY_TOOL_CALLS", FinishReason::upstream_error},
    {"MISSING_THOUGHT_SIGNATURE", FinishReason::upstream_error},
});

std::optional<FinishReason> reason_of_word(std::string_view word) {
  for (const GeminiFinish& row : kGeminiFinishes) {
    if (row.word == word) return row.reason;
  }
  return finish_reason_of(word);  // of servers that speak this format and Chat Completions
}

// Members of a part that callgate does not know. There are none unless the client speaks the same format.
void each_strange_member(const GeminiPart& part,
                         FunctionRef<void(std::string_view name, std::string_view json)> visit) {
  static constexpr auto kKnown =
      std::to_array<std::string_view>({"text", "thought", "thoughtSignature", "thought_signature",
                                       "functionCall", "function_call"});
  json::each_member(part.json, [&](std::string_view name, std::string_view json) {
    const bool known = std::find(kKnown.begin(), kKnown.end(), name) != kKnown.end();
    if (!known && json != "null") visit(name, json);
  });
}

bool is_more_than_nothing(std::string_view args) {
  return args.find_first_not_of("{} \t\r\n") != std::string_view::npos;
}

}  // namespace

void GeminiDecoder::push(const SseFrame& frame, ChoiceSinks& sinks) {
  const std::string_view data = trimmed(frame.data);
  if (finished_ || data.empty()) return;
  if (is_end_mark(data)) return end(Ending::end, sinks);
  if (!reader_.read(data)) {
    return data.starts_with("[{") ? push_elements(data, sinks) : push_unread(frame, data, sinks);
  }
  count_mended(reader_.mended(), repairs_);
  const GeminiFrame& read = reader_.frame();
  if (!read.has_candidates && read.error.empty() && read.block_reason.empty() &&
      is_error_answer(data)) {
    return fail_with(decode_gemini_error(0, data));
  }
  apply(read, sinks);
}

// After the end of every choice a chunk can be missed that shows no content: it had the counts.
void GeminiDecoder::lose_chunk(std::string_view rest) {
  const bool shows_content = rest.find("\"parts\"") != std::string_view::npos;
  if (complete() && !shows_content) return count(Repair::frame_invalid);
  fail_with(lost_chunk());
}

// A list of answers in one frame: the API writes errors so.
void GeminiDecoder::push_elements(std::string_view array, ChoiceSinks& sinks) {
  json::Reader in(array);
  while (in.next_element()) push({.event = {}, .data = in.raw(), .id = {}}, sinks);
  if (!in.finish() && !finished_) lose_chunk(array);
}

void GeminiDecoder::push_body(std::string_view body, ChoiceSinks& sinks) {
  if (finished_) return;
  if (!reader_.read(body)) {
    return fail_with("upstream answered with a body that is not a JSON object");
  }
  count_mended(reader_.mended(), repairs_);
  const GeminiFrame& frame = reader_.frame();
  if (frame.error.empty() && !frame.has_candidates && frame.block_reason.empty()) {
    if (is_error_answer(trimmed(body))) return fail_with(decode_gemini_error(0, body));
    return fail_with("upstream answered with a body that has no candidates");
  }
  apply(frame, sinks);
  if (!finished_) end(Ending::end, sinks);
}

void GeminiDecoder::begin(ChoiceSinks& sinks) {
  if (!choices_.empty()) return;
  choices_.resize(sinks.count());
  for (Choice& choice : choices_) choice.tracker.expect_disorder(tools_);
}

void GeminiDecoder::apply(const GeminiFrame& frame, ChoiceSinks& sinks) {
  if (!frame.error.empty()) return fail_with(decode_gemini_error(0, frame.error));
  begin(sinks);
  for (const GeminiCandidate& candidate : frame.candidates) {
    const std::optional<std::uint32_t> position = position_of(candidate.index, sinks.count());
    if (!position) continue;
    apply_candidate(candidate, choices_[*position], sinks.choice(*position));
    if (finished_) return;
  }
  if (!frame.has_candidates && !frame.block_reason.empty()) {
    apply_block(frame, choices_.front(), sinks.choice(0));
  }
  for (const auto& [name, json] : frame.others) {
    sinks.choice(0).accept(FieldReported{FieldReported::Scope::turn, name, json});
  }
  apply_usage(frame, sinks.choice(0));
}

void GeminiDecoder::apply_candidate(const GeminiCandidate& candidate, Choice& choice,
                                    EventSink& sink) {
  choice.seen = true;
  choice.tracker.next_document(reader_.mended().escaped > 0);
  if (!candidate.logprobs.empty()) {
    const std::string logprobs = convert_gemini_logprobs(candidate.logprobs);
    if (!logprobs.empty()) {
      sink.accept(FieldReported{FieldReported::Scope::choice, "logprobs", logprobs});
    }
  }
  for (const auto& [name, json] : candidate.others) {
    sink.accept(FieldReported{FieldReported::Scope::choice, name, json});
  }
  choice.spoken = choice.spoken || !candidate.parts.empty();
  for (const GeminiPart& part : candidate.parts) apply_part(part, choice, sink);
  if (holds_too_much(choice.tracker)) return;
  if (is_finish_word(candidate.finish.view())) apply_finish(candidate, choice, sink);
}

void GeminiDecoder::apply_part(const GeminiPart& part, Choice& choice, EventSink& sink) {
  switch (part.kind) {
    case GeminiPart::Kind::text:
      if (part.text.empty()) break;
      close_call(choice, sink);
      report_members(part, sink);
      choice.tracker.push_prose(part.thought ? Prose::reasoning : Prose::text, part.text.view(),
                                sink);
      break;
    case GeminiPart::Kind::call:
      return apply_call(part, choice, sink);
    case GeminiPart::Kind::other:
      if (part.json.empty() || part.json == "{}") break;
      close_call(choice, sink);
      detail_.assign("[").append(part.json).push_back(']');
      sink.accept(FieldReported{FieldReported::Scope::message, "parts", detail_});
      return;
  }
  report_signature(part, std::nullopt, sink);
}

// {"videoMetadata":{...}} of a text: they belong to the next text.
void GeminiDecoder::report_members(const GeminiPart& part, EventSink& sink) {
  detail_.clear();
  each_strange_member(part, [&](std::string_view name, std::string_view json) {
    detail_.append(detail_.empty() ? "{" : ",");
    json::append_string(detail_, name);
    detail_.append(":").append(json);
  });
  if (detail_.empty()) return;
  detail_.push_back('}');
  sink.accept(FieldReported{FieldReported::Scope::message, kGeminiPart, detail_});
}

void GeminiDecoder::apply_call(const GeminiPart& part, Choice& choice, EventSink& sink) {
  const bool has_arguments = !part.pieces.empty() || is_more_than_nothing(part.args.view());
  const bool same_id = part.id.empty() || part.id.view() == choice.open_id;
  const bool named = !part.name.empty();
  const bool same_name = !named || (part.name.view() == choice.open_name &&
                                    (!part.id.empty() || !part.pieces.empty()));
  if (choice.call_open && same_id && same_name) return continue_call(part, choice, sink);
  if (choice.call_open && same_id && join_name(part, choice)) {
    return continue_call(part, choice, sink);
  }
  close_call(choice, sink);
  if (named || has_arguments) start_call(part, choice, sink);
}

// True: the name of the open call has not left, and the part has its next piece.
bool GeminiDecoder::join_name(const GeminiPart& part, Choice& choice) {
  if (choice.call_named) return false;
  const bool same_id = !part.id.empty();
  std::string joined = names_.joined(choice.open_name, part.name.view(), same_id, same_id);
  if (joined.empty()) return false;
  choice.open_name = std::move(joined);
  count(Repair::name_broken);
  return true;
}

void GeminiDecoder::start_call(const GeminiPart& part, Choice& choice, EventSink& sink) {
  if (part.pieces.empty() && (!part.will_continue || is_more_than_nothing(part.args.view()))) {
    return push_whole(part, choice, sink);
  }
  report_signature(part, choice.calls++, sink);
  choice.call_open = true;
  choice.call_named = false;
  choice.open_id = part.id.view();
  choice.open_name = part.name.view();
  choice.arguments.start();
  continue_call(part, choice, sink);
}

// A call of its own, or, without a name, the arguments of the last call where that had none.
void GeminiDecoder::push_whole(const GeminiPart& part, Choice& choice, EventSink& sink) {
  const bool rest = part.name.empty() && choice.tracker.is_prefilled();
  report_signature(part, rest ? choice.calls - 1 : choice.calls++, sink);
  piece_.clear();
  piece_.legacy = true;  // neither ids nor indices are to be expected
  piece_.id = part.id.view();
  piece_.name = part.name.view();
  piece_.arguments_renamed = part.args_renamed;
  fragment_.clear();
  json::append_compact(fragment_, part.args.empty() ? "{}" : part.args.view());
  piece_.arguments = fragment_;
  // The id distinguishes a frame that came twice from a second call.
  each_strange_member(part, [&](std::string_view name, std::string_view json) {
    OtherMember& other = piece_.others.add();
    other.name.copy(name);
    other.json = json;
  });
  choice.tracker.push_call(piece_, part.id.empty() && !rest, repairs_, sink);
  choice.tracker.end_newest(sink);
}

void GeminiDecoder::name_call(Choice& choice, EventSink& sink) {
  if (std::exchange(choice.call_named, true)) return;
  piece_.clear();
  piece_.legacy = true;
  piece_.id = choice.open_id;
  piece_.name = choice.open_name;
  choice.tracker.push_call(piece_, true, repairs_, sink);
}

void GeminiDecoder::continue_call(const GeminiPart& part, Choice& choice, EventSink& sink) {
  if (names_.growth(choice.open_name) == ToolNames::Growth::over) name_call(choice, sink);
  fragment_.clear();
  bool more = part.will_continue;
  for (const GeminiArgument& argument : part.pieces) {
    choice.arguments.add(argument, fragment_);
    more = part.will_continue || argument.will_continue;
  }
  if (choice.arguments.empty() && is_more_than_nothing(part.args.view())) {
    choice.call_open = false;
    json::append_compact(fragment_, part.args.view());
    push_arguments(choice, sink);
    return choice.tracker.end_newest(sink);
  }
  push_arguments(choice, sink);
  if (!more) close_call(choice, sink);
}

void GeminiDecoder::push_arguments(Choice& choice, EventSink& sink) {
  if (fragment_.empty()) return;
  name_call(choice, sink);
  piece_.clear();
  piece_.legacy = true;
  piece_.arguments = fragment_;
  choice.tracker.push_call(piece_, false, repairs_, sink);
}

// The call that came in pieces is complete.
void GeminiDecoder::close_call(Choice& choice, EventSink& sink) {
  if (!std::exchange(choice.call_open, false)) return;
  fragment_.clear();
  choice.arguments.finish(fragment_);
  push_arguments(choice, sink);
  choice.tracker.end_newest(sink);
}

void GeminiDecoder::apply_finish(const GeminiCandidate& candidate, Choice& choice,
                                 EventSink& sink) {
  const bool first = !std::exchange(choice.finish_seen, true);
  choice.said = reason_of_word(candidate.finish.view());
  if (choice.said == FinishReason::content_filter && first) {
    choice.tracker.push_prose(Prose::refusal, candidate.finish_message.view(), sink);
  }
  if (choice.said != FinishReason::upstream_error) return;
  std::string message = "upstream ended the turn with " + std::string(candidate.finish.view());
  if (!candidate.finish_message.empty()) {
    message.append(": ").append(candidate.finish_message.view());
  }
  fail_with({.code = ErrorCode::upstream_failed,
             .message = std::move(message),
             .upstream_code = std::string(candidate.finish.view())});
}

// The prompt was refused: nothing else comes.
void GeminiDecoder::apply_block(const GeminiFrame& frame, Choice& choice, EventSink& sink) {
  choice.seen = true;
  if (std::exchange(choice.finish_seen, true)) return;
  choice.said = FinishReason::content_filter;
  if (!frame.block_message.empty()) {
    return choice.tracker.push_prose(Prose::refusal, frame.block_message.view(), sink);
  }
  choice.tracker.push_prose(
      Prose::refusal, "the prompt was blocked: " + std::string(frame.block_reason.view()), sink);
}

// Usage is cumulative: each frame carries running totals for the counters it mentions.
void GeminiDecoder::apply_usage(const GeminiFrame& frame, EventSink& sink) {
  const GeminiUsage& usage = frame.usage;
  const auto take = [](std::optional<std::int64_t>& count, const std::optional<std::int64_t>& now) {
    if (now) count = now;
  };
  take(counts_.prompt, usage.prompt);
  take(counts_.tool_prompt, usage.tool_prompt);
  take(counts_.candidates, usage.candidates);
  take(counts_.thoughts, usage.thoughts);
  take(counts_.cached, usage.cached);
  if (!counts_.prompt && !counts_.candidates && !counts_.thoughts) return;
  Usage sum;
  sum.prompt_tokens = counts_.prompt.value_or(0) + counts_.tool_prompt.value_or(0);
  sum.reasoning_tokens = counts_.thoughts.value_or(0);
  sum.completion_tokens = counts_.candidates.value_or(0) + sum.reasoning_tokens;
  sum.cached_tokens = counts_.cached.value_or(0);
  sum.total_tokens = sum.prompt_tokens + sum.completion_tokens;
  sum.prompt_stated = counts_.prompt.has_value();
  // The API leaves out counts that are 0.
  sum.completion_stated = counts_.prompt || counts_.candidates || counts_.thoughts;
  if (usage_ == sum) return;
  usage_ = sum;
  sink.accept(UsageReported{sum, frame.usage_json});
}

void GeminiDecoder::report_signature(const GeminiPart& part, std::optional<std::int64_t> call,
                                     EventSink& sink) {
  if (part.signature.empty()) return;
  std::string_view id = part.id.view();
  if (!call) {
    id = part.text.empty() ? kGeminiEndPart : part.thought ? kGeminiThoughtPart : kGeminiTextPart;
  }
  detail_ = "[";
  json::ObjectWriter item(detail_);
  item.string("type", "reasoning.encrypted");
  item.string("data", part.signature.view());
  item.string("format", kGeminiReasoning);
  if (!id.empty()) item.string("id", id);
  if (call) item.integer("index", *call);
  item.close();
  detail_.push_back(']');
  sink.accept(FieldReported{FieldReported::Scope::message, "reasoning_details", detail_});
}

// A caller that asked for one choice gets the first that comes, whatever its index; others are not wanted.
std::optional<std::uint32_t> GeminiDecoder::position_of(std::int64_t index, std::uint32_t count) {
  if (count == 1) {
    if (!only_choice_) only_choice_ = index;
    return *only_choice_ == index ? std::optional<std::uint32_t>(0) : std::nullopt;
  }
  if (index >= static_cast<std::int64_t>(count)) return std::nullopt;
  return static_cast<std::uint32_t>(index);
}

bool GeminiDecoder::complete() const {
  bool any = false;
  for (const Choice& choice : choices_) {
    if (choice.seen && !choice.finish_seen) return false;
    any = any || choice.seen;
  }
  return any && !error_;
}

void GeminiDecoder::end(Ending ending, ChoiceSinks& sinks) {
  if (!begin_end()) return;
  if (error_) ending = Ending::failure;
  begin(sinks);
  for (std::uint32_t i = 0; i < choices_.size(); ++i) {
    Choice& choice = choices_[i];
    if (!choice.seen && i > 0) continue;
    EventSink& sink = sinks.choice(i);
    // The last piece of a call need not say that it is the last.
    if (choice.said == FinishReason::stop) close_call(choice, sink);
    if (choice.call_open) name_call(choice, sink);
    const bool unsaid = !choice.finish_seen && ending != Ending::end;
    choice.tracker.finish(unsaid || choice.said == FinishReason::length, sink);
    count(Repair::utf8_invalid, choice.tracker.replaced() + choice.arguments.replaced());
    // STOP is what the API says of turns with calls.
    sink.accept(TurnFinished{reason_of({choice.finish_seen, choice.said}, ending, choice.spoken,
                                       choice.tracker.tally(), FinishReason::stop)});
  }
}

}  // namespace callgate::upstream
