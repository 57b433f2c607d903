#include "upstream/openai_responses/responses_decoder.h"

#include <utility>

#include "chat/same_format.h"
#include "upstream/finish_word.h"
#include "upstream/openai_responses/responses_error.h"

namespace callgate::upstream {
void ResponsesDecoder::push(const SseFrame& frame, ChoiceSinks& sinks) {
  if (finished_) return;
  EventSink& sink = sinks.choice(0);
  const std::string_view data = trimmed(frame.data);
  if (data.empty()) return;
  if (is_end_mark(data)) return end(Ending::end, sink);
  const bool readable = reader_.read(data);
  const ResponsesFrame& read = reader_.frame();
  std::string_view type = read.type.empty() ? frame.event : read.type.view();
  if (type == "error" || (!type.starts_with("response.") && !read.response.error.empty())) {
    return fail_with(decode_responses_error(0, data));
  }
  if (!readable) return push_unread(frame, data, sinks);
  count_mended(reader_.mended(), repairs_);
  tracker_.next_document(reader_.mended().escaped > 0);
  if (type.empty() && read.response.has_output) {  // a response where a stream was asked for
    seen_ = true;
    return apply_end(read.response.status.view(), read.response, sink);
  }
  constexpr std::string_view kPrefix = "response.";
  if (!type.starts_with(kPrefix)) {
    if (is_error_answer(data)) return fail_with(decode_responses_error(0, data));
    return report_event(data, sink);
  }
  type.remove_prefix(kPrefix.size());
  if (repeats_last(type, data, read)) return;
  if (!read.others.empty()) report_members(type, read.others, sink);
  if (!apply(type, read, sink)) report_event(data, sink);
  holds_too_much(tracker_);
}

void ResponsesDecoder::push_body(std::string_view body, ChoiceSinks& sinks) {
  if (finished_) return;
  if (!reader_.read(trimmed(body))) {
    return fail_with("upstream answered with a body that is not a JSON object");
  }
  count_mended(reader_.mended(), repairs_);
  tracker_.next_document(reader_.mended().escaped > 0);
  const ResponsesBody& read = reader_.frame().response;
  if (!read.error.empty()) return fail_with(decode_responses_error(0, body));
  if (!read.has_output && is_error_answer(trimmed(body))) {
    return fail_with(decode_responses_error(0, body));
  }
  if (!read.has_output) {
    return fail_with("upstream answered with a body that has no output");
  }
  seen_ = true;
  if (same_format_) {
    sinks.choice(0).accept(
        FieldReported{FieldReported::Scope::turn, kWholeResponse, trimmed(body)});
  }
  apply_end(read.status.view(), read, sinks.choice(0));
}

// Deltas alone do harm when they come twice: a delta with the same number and the same bytes as the last one is that one.
bool ResponsesDecoder::repeats_last(std::string_view type, std::string_view data,
                                    const ResponsesFrame& frame) {
  const bool same = frame.sequence && frame.sequence == sequence_;
  const bool again = same && counts_up_ && type.ends_with(".delta") && data == last_delta_;
  if (frame.sequence && sequence_ && !again) counts_up_ = *frame.sequence > *sequence_;
  if (frame.sequence) sequence_ = frame.sequence;
  if (!again && type.ends_with(".delta")) last_delta_.assign(data);
  return again;
}

// False: an event that it does not know.
bool ResponsesDecoder::apply(std::string_view type, const ResponsesFrame& frame, EventSink& sink) {
  const bool begins = type == "created" || type == "queued" || type == "in_progress";
  if (begins) return true;
  seen_ = true;
  if (apply_prose(type, frame, sink) || apply_call(type, frame, sink)) return true;
  if (type == "output_item.added") {
    if (frame.has_item) start_item(frame, sink);
  } else if (type == "output_item.done") {
    const OutputItem::Kind kind = item_kind_of(frame.item.type.view());
    if (kind == OutputItem::Kind::other) {
      other_ids_.emplace(frame.item.id.view());
      report_item(kOtherItem, frame.item, sink);
      return true;
    }
    OutputItem* state = items_.known(kind, frame, true);
    if (state == nullptr) state = items_.add(kind, frame.item, frame.output_index);
    if (state != nullptr) finish_item(*state, frame.item, sink);
  } else if (type == "content_part.added" || type == "reasoning_summary_part.added") {
    if (type.starts_with("content")) report_json(kPartAdded, frame.part, sink);
    start_part(frame);
  } else if (type == "content_part.done") {
    report_json(kPartDone, frame.part, sink);
  } else if (type == "output_text.annotation.added") {
    OutputItem* state = items_.speaking(OutputItem::Kind::message, frame);
    if (state == nullptr) return true;
    ++state->annotations;
    report_annotation(frame.annotation, sink);
  } else if (type == "completed" || type == "incomplete" || type == "failed" ||
             type == "cancelled") {
    apply_end(type, frame.response, sink);
  } else if (type == "done") {
    apply_end(frame.response.status.view(), frame.response, sink);
  } else {
    return type == "reasoning_summary_part.done";
  }
  return true;
}

bool ResponsesDecoder::apply_prose(std::string_view type, const ResponsesFrame& frame,
                                   EventSink& sink) {
  struct Row {
    std::string_view type;
    const Lane& lane;
    bool done;
  };
  static constexpr std::array<Row, 8> kRows = {{
      {"output_text.delta", kText, false},
      {"output_text.done", kText, true},
      {"reasoning_summary_text.delta", kSummary, false},
      {"reasoning_summary_text.done", kSummary, true},
      {"reasoning_text.delta", kThought, false},
      {"reasoning_text.done", kThought, true},
      {"refusal.delta", kRefusal, false},
      {"refusal.done", kRefusal, true},
  }};
  for (const Row& row : kRows) {
    if (row.type != type) continue;
    row.done ? say_done(row.lane, frame, sink) : say_delta(row.lane, frame, sink);
    return true;
  }
  return false;
}

bool ResponsesDecoder::apply_call(std::string_view type, const ResponsesFrame& frame,
                                  EventSink& sink) {
  using Kind = OutputItem::Kind;
  const bool function = type.starts_with("function_call_arguments.");
  if (!function && !type.starts_with("custom_tool_call_input.")) return false;
  OutputItem* state = items_.speaking(function ? Kind::call : Kind::custom_call, frame);
  if (state == nullptr) return true;
  const bool elsewhere =
      frame.output_index && state->output_index && *frame.output_index != *state->output_index;
  if (elsewhere && !state->done && !std::exchange(state->misplaced, true)) {
    count(Repair::arguments_misplaced);
  }
  name_call(*state, frame.name.view(), {}, sink);
  if (type.ends_with(".delta")) {
    const bool renamed = frame.delta.empty();
    const std::string_view piece = (renamed ? frame.whole : frame.delta).view();
    const std::string_view delta = state->text_halves.push(piece, joined_);
    push_arguments(*state, delta, renamed ? frame.whole_object : frame.delta_object, sink);
  } else if (type.ends_with(".done")) {
    push_rest(*state, frame.whole.view(), frame.whole_object, sink);
    tracker_.end_call(static_cast<std::int64_t>(state->number), sink);
  }
  return true;
}

// Without an index it is the next part.
void ResponsesDecoder::start_part(const ResponsesFrame& frame) {
  OutputItem* item = items_.with_parts(frame.item_id.view());
  if (item == nullptr) return;
  const std::int64_t next = item->part_index ? *item->part_index + 1 : 0;
  const std::int64_t index = frame.part_index.value_or(next);
  if (item->part_index && index <= *item->part_index) return;
  item->part_index = index;
  item->part = {};
}

void ResponsesDecoder::say_delta(const Lane& lane, const ResponsesFrame& frame, EventSink& sink) {
  const std::string_view piece = (frame.delta_object ? frame.said : frame.delta).view();
  OutputItem* item = items_.speaking(lane.kind, frame);
  if (item == nullptr) return;
  const std::int64_t index = frame.part_index.value_or(item->part_index.value_or(0));
  if (item->part_index != index || item->part_is_other != lane.other) {
    item->part_index = index;
    item->part_is_other = lane.other;
    item->part = {};
  }
  if (!frame.logprobs.empty()) report_logprobs(frame.logprobs, sink);
  speak(lane, *item, index, halves_of(lane, *item).push(piece, joined_), sink);
}

// A part that ended. An earlier one than the last has been heard.
void ResponsesDecoder::say_done(const Lane& lane, const ResponsesFrame& frame, EventSink& sink) {
  OutputItem* item = items_.speaking(lane.kind, frame);
  if (item == nullptr || item->done) return;
  const std::int64_t index = frame.part_index.value_or(item->part_index.value_or(0));
  if (item->part_index && index < *item->part_index) return;
  if (item->part_index != index || item->part_is_other != lane.other) {
    const bool heard = item->part_index == index && item->part.length() > 0;
    if (heard) return;
    item->part_index = index;
    item->part_is_other = lane.other;
    item->part = {};
  }
  const std::string_view rest = item->part.rest_of(frame.whole.view());
  if (!rest.empty()) halves_of(lane, *item).drop();
  speak(lane, *item, index, rest, sink);
}

void ResponsesDecoder::say_rest(const Lane& lane, OutputItem& item,
                                const ReusedList<ResponsesPart>& parts, EventSink& sink) {
  const auto text_of_part = [&](const ResponsesPart& part) {
    return (&lane == &kRefusal ? part.refusal : part.text).view();
  };
  const Said& said = lane.other ? item.other : item.text;
  auto rest = said.rest([&](auto visit) {
    for (const ResponsesPart& part : parts) visit(text_of_part(part));
  });
  std::int64_t index = 0;
  for (const ResponsesPart& part : parts) {
    const std::string_view text = rest.of(text_of_part(part));
    if (&lane == &kText && !text.empty() && !part.logprobs.empty()) {
      report_logprobs(part.logprobs, sink);
    }
    if (!text.empty()) {
      halves_of(lane, item).drop();
      if (item.kind == OutputItem::Kind::message) report_json(kPartAdded, part.json, sink);
    }
    speak(lane, item, index++, text, sink);
  }
  end_text(lane, item, sink);
}

// Half a surrogate pair whose other half did not come.
void ResponsesDecoder::end_text(const Lane& lane, OutputItem& item, EventSink& sink) {
  speak(lane, item, item.part_index.value_or(0), halves_of(lane, item).finish(), sink);
}

void ResponsesDecoder::end_texts(OutputItem& item, EventSink& sink) {
  switch (item.kind) {
    case OutputItem::Kind::message:
      end_text(kText, item, sink);
      return end_text(kRefusal, item, sink);
    case OutputItem::Kind::reasoning:
      end_text(kSummary, item, sink);
      return end_text(kThought, item, sink);
    case OutputItem::Kind::call:
    case OutputItem::Kind::custom_call:
      return push_arguments(item, item.text_halves.finish(), false, sink);
    case OutputItem::Kind::other:
      return;
  }
}

// Messages, and the sections of a summary, are set apart by a blank line.
void ResponsesDecoder::speak(const Lane& lane, OutputItem& item, std::int64_t part,
                             std::string_view text, EventSink& sink) {
  if (text.empty()) return;
  (lane.other ? item.other : item.text).add(text);
  item.part.add(text);
  auto& last = speakers_[static_cast<std::size_t>(lane.prose)];
  const Speaker speaker{item.number, &lane == &kSummary ? part : -1};
  if (last && *last != speaker) tracker_.push_prose(lane.prose, "\n\n", sink);
  last = speaker;
  tracker_.push_prose(lane.prose, text, sink);
}

// `status` as the event or the response states it.
void ResponsesDecoder::apply_end(std::string_view status, const ResponsesBody& body,
                                 EventSink& sink) {
  if (status == "failed" || status == "cancelled" || !body.error.empty()) {
    Error error{.code = ErrorCode::upstream_failed, .message = "upstream ended the turn: "};
    error.message += status;
    if (!body.error.empty()) error = decode_responses_error(0, body.error);
    return fail_with(std::move(error));
  }
  if (status == "queued" || status == "in_progress") {
    return fail_with("upstream has not finished its answer: " + std::string(status));
  }
  items_.match(body.output, [&](const ResponsesItem& item, OutputItem* state) {
    const OutputItem::Kind kind = item_kind_of(item.type.view());
    if (kind == OutputItem::Kind::other) {
      if (!other_ids_.contains(std::string(item.id.view()))) report_item(kOtherItem, item, sink);
      return;
    }
    if (state == nullptr) {
      state = items_.add(kind, item, std::nullopt);
      report_item(kItemAdded, item, sink);
    }
    if (state != nullptr) finish_item(*state, item, sink);
  });
  if (same_format_ && !body.json.empty()) {
    sink.accept(FieldReported{FieldReported::Scope::turn, kWholeResponse, body.json});
  }
  if (!body.service_tier.empty()) {
    sink.accept(FieldReported{FieldReported::Scope::turn, "service_tier", body.service_tier});
  }
  if (body.usage) {
    sink.accept(UsageReported{*body.usage, same_format_ ? body.usage_json : std::string_view()});
  }
  said_ = FinishReason::stop;
  if (status == "incomplete") {
    said_ = finish_reason_of(body.incomplete.view()).value_or(FinishReason::length);
  }
  end(Ending::end, sink);
}

void ResponsesDecoder::end(Ending ending, EventSink& sink) {
  if (!begin_end()) return;
  if (error_) ending = Ending::failure;
  const bool cut = ending != Ending::end || said_ == FinishReason::length;
  for (OutputItem& item : items_.all()) {
    end_texts(item, sink);
    count(Repair::utf8_invalid, item.text_halves.replaced() + item.other_halves.replaced());
  }
  finish_open_calls(said_ && !cut, sink);
  tracker_.finish(cut, sink);
  // A response with calls is completed like any other.
  sink.accept(
      TurnFinished{reason_of({said_.has_value(), said_}, ending, seen_, tracker_.tally(), said_)});
}

}  // namespace callgate::upstream
