#include "upstream/anthropic_messages/anthropic_decoder.h"

#include <utility>

#include "json/member.h"
#include "json/writer.h"
#include "upstream/anthropic_messages/anthropic_error.h"
#include "upstream/finish_word.h"

namespace callgate::upstream {
namespace {

constexpr std::size_t kMaxBlocks = std::size_t{1} << 16;

// What a delta says under its own name, or as nothing but a text.
std::string_view said(const Text& text, std::string_view plain) {
  return text.empty() ? plain : text.view();
}

bool is_empty_input(std::string_view json) {
  return json.find_first_not_of("{} \t\r\n") == std::string_view::npos;
}

}  // namespace

void AnthropicDecoder::push(const SseFrame& frame, ChoiceSinks& sinks) {
  if (finished_) return;
  EventSink& sink = sinks.choice(0);
  const std::string_view data = trimmed(frame.data);
  if (data.empty()) return;
  // Some compatible servers end like Chat Completions.
  if (is_end_mark(data)) return end(Ending::end, sink);
  const bool readable = reader_.read(data);
  const AnthropicFrame& read = reader_.frame();
  const std::string_view type = read.type.empty() ? frame.event : read.type.view();
  if (frame.event == "error" || type == "error" || !read.error.empty()) {
    return fail_with(decode_anthropic_error(0, data));
  }
  if (!readable) return push_unread(frame, data, sinks);
  count_mended(reader_.mended(), repairs_);
  tracker_.next_document(reader_.mended().escaped > 0);
  if (tells_frames_) tell_before(type, data, read, sink);
  apply(type, data, read, sink);
  if (tells_frames_) tell_after(type, data, read, sink);
  holds_too_much(tracker_);
}

// After the reason for the end a chunk can be missed that shows no content: it had the counts, or the end itself.
void AnthropicDecoder::lose_chunk(std::string_view rest) {
  const bool shows_content = rest.find("content_block") != std::string_view::npos;
  if (complete() && !shows_content) return count(Repair::frame_invalid);
  fail_with(lost_chunk());
}

void AnthropicDecoder::apply(std::string_view type, std::string_view data,
                             const AnthropicFrame& frame, EventSink& sink) {
  if (type == "content_block_delta") {
    continue_block(frame, sink);
  } else if (type == "content_block_start") {
    start_block(frame, sink);
  } else if (type == "content_block_stop") {
    stop_block(frame, sink);
  } else if (type == "message_start") {
    apply_usage(frame.usage, false, sink);
  } else if (type == "message_delta") {
    apply_end(frame, sink);
  } else if (type == "message_stop") {
    end(Ending::end, sink);
  } else if (type == "message" && !seen_) {
    apply_whole(frame, sink);
  } else if (type != "ping" && is_error_answer(data)) {
    fail_with(decode_anthropic_error(0, data));
  }
}

void AnthropicDecoder::push_body(std::string_view body, ChoiceSinks& sinks) {
  if (finished_) return;
  EventSink& sink = sinks.choice(0);
  if (!reader_.read(trimmed(body))) {
    return fail_with("upstream answered with a body that is not a JSON object");
  }
  count_mended(reader_.mended(), repairs_);
  tracker_.next_document(reader_.mended().escaped > 0);
  const AnthropicFrame& read = reader_.frame();
  if (!read.error.empty() || read.type.view() == "error") {
    return fail_with(decode_anthropic_error(0, body));
  }
  if (!read.has_content && is_error_answer(body)) {
    return fail_with(decode_anthropic_error(0, body));
  }
  if (!read.has_content) {
    return fail_with("upstream answered with a body that has no content");
  }
  if (tells_frames_) frames_.begin_whole(trimmed(body), sink);
  usage_json_ = tells_frames_ ? json::member_json(body, "usage") : std::string_view();
  apply_whole(read, sink);
  end(Ending::end, sink);
}

// Only where it may go to the client: the frame is read once more.
void AnthropicDecoder::tell_before(std::string_view type, std::string_view data,
                                   const AnthropicFrame& frame, EventSink& sink) {
  usage_json_ = {};
  if (frame.strange && !goes_as_it_is(type, data, frame)) frames_.tell_members(type, data, sink);
  if (type == "message_start") {
    const std::string_view message = json::member_json(data, "message");
    usage_json_ = json::member_json(message, "usage");
    frames_.tell_message(message, sink);
  } else if (type == "message_delta") {
    usage_json_ = json::member_json(data, "usage");
    frames_.tell(data, sink);
  } else if (type == "content_block_start" && frame.strange &&
             kind_of(frame.block.type.view()) != Block::Kind::ignored) {
    frames_.tell_start(json::member_json(data, "content_block"), sink);
  }
}

// The client gets all of the frame, or its encoder has no frame of that type.
bool AnthropicDecoder::goes_as_it_is(std::string_view type, std::string_view data,
                                     const AnthropicFrame& frame) {
  if (type == "content_block_delta" || type == "content_block_stop") {
    return kind_at(frame) == Block::Kind::ignored || frames_.is_strange_delta(data);
  }
  return type != "message_start" && type != "content_block_start" && type != "message_stop";
}

void AnthropicDecoder::tell_after(std::string_view type, std::string_view data,
                                  const AnthropicFrame& frame, EventSink& sink) {
  const Block::Kind kind = kind_at(frame);
  const bool ignored = kind == Block::Kind::ignored;
  if (type == "content_block_start") {
    if (ignored) frames_.tell(data, sink);
  } else if (type == "content_block_delta") {
    if (ignored || (frame.strange && frames_.is_strange_delta(data))) frames_.tell(data, sink);
  } else if (type == "content_block_stop") {
    if (ignored || kind == Block::Kind::text) frames_.tell_stop(sink);
  } else if (type != "message_start" && type != "message_delta" && type != "message_stop" &&
             type != "message" && type != "ping") {
    frames_.tell(data, sink);
  }
}

AnthropicDecoder::Block::Kind AnthropicDecoder::kind_at(const AnthropicFrame& frame) {
  const std::size_t position = position_of(frame, false);
  return position < blocks_.size() ? blocks_[position].kind : Block::Kind::unknown;
}

AnthropicDecoder::Block::Kind AnthropicDecoder::kind_of(std::string_view type) {
  if (type == "text") return Block::Kind::text;
  if (type == "thinking" || type == "redacted_thinking") return Block::Kind::thinking;
  if (type == "tool_use") return Block::Kind::call;
  return Block::Kind::ignored;
}

// Without an index a start is one more block, and anything else belongs to the newest.
std::size_t AnthropicDecoder::position_of(const AnthropicFrame& frame, bool starts) {
  if (!frame.index) return starts && !blocks_.empty() ? newest_ + 1 : newest_;
  return static_cast<std::size_t>(*frame.index);
}

AnthropicDecoder::Block& AnthropicDecoder::block_at(std::size_t position) {
  if (position >= blocks_.size()) blocks_.resize(position + 1);
  return blocks_[position];
}

void AnthropicDecoder::start_block(const AnthropicFrame& frame, EventSink& sink) {
  fill_empty_call(sink);
  const std::size_t position = position_of(frame, true);
  if (position >= kMaxBlocks) return;
  if (early_call_ != position) push_early_input(sink);
  const AnthropicBlock& block = frame.block;
  Block& state = block_at(position);
  state = {.kind = kind_of(block.type.view())};
  newest_ = position;
  // A block of text is nothing before it says something.
  seen_ = seen_ || state.kind != Block::Kind::text || !block.text.empty();
  switch (state.kind) {
    case Block::Kind::text:
      tracker_.push_prose(Prose::text, block.text.view(), sink);
      return;
    case Block::Kind::thinking:
      return think(position, block, sink);
    case Block::Kind::call:
      if (!frame.index) count(Repair::index_missing);
      piece_.clear();
      piece_.index = static_cast<std::int64_t>(position);
      piece_.id = block.id.view();
      piece_.name = block.name.view();
      piece_.arguments_renamed = block.input_renamed;
      tracker_.push_call(piece_, false, repairs_, sink);
      if (block.input_given) {
        early_call_ = position;
        early_input_ = block.input.view();
      }
      return;
    case Block::Kind::unknown:
    case Block::Kind::ignored:
      return;
  }
}

void AnthropicDecoder::continue_block(const AnthropicFrame& frame, EventSink& sink) {
  seen_ = true;
  const std::size_t position = position_of(frame, false);
  if (position >= kMaxBlocks) return;
  Block& block = block_at(position);
  if (block.kind == Block::Kind::ignored) return;
  const AnthropicDelta& delta = frame.delta;
  const std::string_view plain = delta.plain.view();
  const bool thinks = block.kind == Block::Kind::thinking;
  const bool calls = block.kind == Block::Kind::call;
  tracker_.push_prose(Prose::text, thinks || calls ? delta.text.view() : said(delta.text, plain),
                      sink);
  const std::string_view thought = thinks ? said(delta.thinking, plain) : delta.thinking.view();
  if (!thought.empty()) {
    tracker_.push_prose(Prose::reasoning, thought, sink);
    thinking_.add(position, thought, sink);
  }
  if (!delta.signature.empty()) thinking_.sign(position, delta.signature.view());
  const std::string_view json = delta.partial_json.view();
  continue_call(position, calls ? said(delta.partial_json, plain) : json, delta, sink);
}

void AnthropicDecoder::continue_call(std::size_t position, std::string_view json,
                                     const AnthropicDelta& delta, EventSink& sink) {
  if (json.empty() && delta.name.empty()) return;
  const bool has_arguments = tracker_.has_arguments(static_cast<std::int64_t>(position));
  // The input is there already.
  if (early_call_ == position && !has_arguments && is_empty_input(json)) return;
  piece_.clear();
  piece_.index = static_cast<std::int64_t>(position);
  piece_.name = delta.name.view();
  piece_.arguments = json;
  piece_.arguments_object = delta.object;
  tracker_.push_call(piece_, false, repairs_, sink);
}

void AnthropicDecoder::stop_block(const AnthropicFrame& frame, EventSink& sink) {
  const std::size_t position = position_of(frame, false);
  if (position >= blocks_.size()) return;
  if (thinking_.is_open(position)) thinking_.close(sink);
  if (blocks_[position].kind != Block::Kind::call) return;
  if (early_call_ == position) push_early_input(sink);
  if (!tracker_.has_arguments(static_cast<std::int64_t>(position))) empty_call_ = position;
  tracker_.end_call(static_cast<std::int64_t>(position), sink);
}

void AnthropicDecoder::apply_whole(const AnthropicFrame& frame, EventSink& sink) {
  seen_ = !frame.content.empty();
  std::size_t position = 0;
  for (const AnthropicBlock& block : frame.content) {
    frames_.begin_block(position, kind_of(block.type.view()) == Block::Kind::ignored, sink);
    switch (kind_of(block.type.view())) {
      case Block::Kind::text:
        tracker_.push_prose(Prose::text, block.text.view(), sink);
        break;
      case Block::Kind::thinking:
        think(position, block, sink);
        thinking_.close(sink);
        break;
      case Block::Kind::call:
        piece_.clear();
        piece_.id = block.id.view();
        piece_.name = block.name.view();
        piece_.arguments = block.input.view();
        piece_.arguments_renamed = block.input_renamed;
        tracker_.push_call(piece_, true, repairs_, sink);
        break;
      case Block::Kind::unknown:
      case Block::Kind::ignored:
        break;
    }
    frames_.end_block(position, kind_of(block.type.view()) != Block::Kind::call, sink);
    ++position;
  }
  apply_end(frame, sink);
}

// The message itself: why it stopped, and its counts.
void AnthropicDecoder::apply_end(const AnthropicFrame& frame, EventSink& sink) {
  apply_usage(frame.usage, true, sink);
  const std::optional<FinishReason> reason = finish_reason_of(frame.stop_reason.view());
  if (!reason) return;
  if (const std::string_view matched = frame.stop_sequence.view(); !matched.empty()) {
    // As vLLM reports it.
    std::string json;
    json::append_string(json, matched);
    sink.accept(FieldReported{FieldReported::Scope::choice, "stop_reason", json});
  }
  if (!stop_seen_) tracker_.push_prose(Prose::refusal, frame.explanation.view(), sink);
  stop_seen_ = true;
  said_ = reason;
  if (said_ == FinishReason::upstream_error) fail_at_end(frame.stop_reason.view());
}

// Usage is cumulative: each frame carries running totals for the counters it mentions. message_start counts output before
// there is any: only a later frame states it.
void AnthropicDecoder::apply_usage(const AnthropicUsage& usage, bool last, EventSink& sink) {
  const auto take = [](std::optional<std::int64_t>& count, const std::optional<std::int64_t>& now) {
    if (now) count = now;
  };
  take(counts_.input, usage.input);
  take(counts_.cache_read, usage.cache_read);
  take(counts_.cache_creation, usage.cache_creation);
  take(counts_.output, usage.output);
  take(counts_.thinking, usage.thinking);
  output_stated_ = output_stated_ || (last && usage.output);
  if (!counts_.input && !counts_.output) return;
  Usage sum;
  sum.cached_tokens = counts_.cache_read.value_or(0);
  sum.cache_write_tokens = counts_.cache_creation.value_or(0);
  sum.prompt_tokens = counts_.input.value_or(0) + sum.cached_tokens + sum.cache_write_tokens;
  sum.completion_tokens = counts_.output.value_or(0);
  sum.reasoning_tokens = counts_.thinking.value_or(0);
  sum.total_tokens = sum.prompt_tokens + sum.completion_tokens;
  sum.prompt_stated = counts_.input.has_value();
  sum.completion_stated = output_stated_;
  if (usage_ == sum && usage_json_.empty()) return;
  usage_ = sum;
  sink.accept(UsageReported{sum, usage_json_});
}

// A block of thinking as it starts, or whole.
void AnthropicDecoder::think(std::size_t position, const AnthropicBlock& block, EventSink& sink) {
  thinking_.close(sink);
  if (block.type.view() == "redacted_thinking") {
    return thinking_.report_redacted(position, block.data.view(), sink);
  }
  tracker_.push_prose(Prose::reasoning, block.thinking.view(), sink);
  thinking_.add(position, block.thinking.view(), sink);
  thinking_.sign(position, block.signature.view());
}

void AnthropicDecoder::push_input(std::size_t position, std::string_view json, bool object,
                                  EventSink& sink) {
  piece_.clear();
  piece_.index = static_cast<std::int64_t>(position);
  piece_.arguments = json;
  piece_.arguments_object = object;
  tracker_.push_call(piece_, false, repairs_, sink);
}

// Input that came with the start of a call counts where none came later.
void AnthropicDecoder::push_early_input(EventSink& sink) {
  if (!early_call_) return;
  const std::size_t position = *std::exchange(early_call_, std::nullopt);
  if (tracker_.has_arguments(static_cast<std::int64_t>(position))) return;
  push_input(position, early_input_, true, sink);
}

// Another block follows, so the call was not cut.
void AnthropicDecoder::fill_empty_call(EventSink& sink) {
  if (!empty_call_) return;
  const std::size_t position = *std::exchange(empty_call_, std::nullopt);
  if (tracker_.has_arguments(static_cast<std::int64_t>(position))) return;
  push_input(position, "{}", false, sink);
}

void AnthropicDecoder::end(Ending ending, EventSink& sink) {
  if (!begin_end()) return;
  if (error_) ending = Ending::failure;
  push_early_input(sink);
  if (ending == Ending::end) thinking_.close(sink);
  const bool unsaid = !stop_seen_ && ending != Ending::end;
  tracker_.finish(unsaid || said_ == FinishReason::length, sink);
  count(Repair::utf8_invalid, tracker_.replaced());
  sink.accept(TurnFinished{reason_of({stop_seen_, said_}, ending, seen_, tracker_.tally())});
}

}  // namespace callgate::upstream
