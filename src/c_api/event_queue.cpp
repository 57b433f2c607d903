#include "c_api/event_queue.h"

#include <variant>

namespace callgate::c_api {

static_assert(static_cast<int>(CallOutcome::truncated) == CALLGATE_TRUNCATED);
static_assert(static_cast<int>(CallOutcome::malformed) == CALLGATE_MALFORMED);
static_assert(static_cast<int>(FinishReason::tool_calls) == CALLGATE_TOOL_CALLS);
static_assert(static_cast<int>(FinishReason::length) == CALLGATE_LENGTH);
static_assert(static_cast<int>(FinishReason::content_filter) == CALLGATE_CONTENT_FILTER);
static_assert(static_cast<int>(FinishReason::upstream_error) == CALLGATE_UPSTREAM_ERROR);

void EventQueue::accept(const Event& event) {
  std::visit(Overloaded{
                 [&](const TextDelta& e) { add(CALLGATE_TEXT, 0, 0, e.text); },
                 [&](const ReasoningDelta& e) { add(CALLGATE_REASONING, 0, 0, e.text); },
                 [&](const RefusalDelta& e) { add(CALLGATE_REFUSAL, 0, 0, e.text); },
                 [&](const CallStarted& e) { add(CALLGATE_CALL, e.call, 0, e.name, e.native_id); },
                 [&](const ArgumentsDelta& e) { add(CALLGATE_ARGUMENTS, e.call, 0, e.bytes); },
                 [&](const CallFinished& e) {
                   add(CALLGATE_CALL_END, e.call, static_cast<std::uint32_t>(e.outcome));
                 },
                 [&](const FieldReported& e) { add(CALLGATE_FIELD, e.call, 0, e.json, e.name); },
                 [&](const UsageReported& e) {
                   add(CALLGATE_USAGE, 0, 0, e.json);
                   callgate_event& added = records_.back().event;
                   added.prompt_tokens = e.usage.prompt_tokens;
                   added.completion_tokens = e.usage.completion_tokens;
                 },
                 [&](const TurnFinished& e) {
                   add(CALLGATE_FINISH, 0, static_cast<std::uint32_t>(e.reason));
                 },
             },
             event);
}

void EventQueue::add(callgate_kind kind, CallIndex call, std::uint32_t value, std::string_view text,
                     std::string_view id) {
  if (read_ == records_.size()) {
    records_.clear();
    bytes_.clear();
    read_ = read_bytes_ = 0;
  }
  Record record{.event = {}, .text = bytes_.size()};
  record.event.kind = kind;
  record.event.call = call;
  record.event.value = value;
  record.event.text_size = text.size();
  record.event.id_size = id.size();
  bytes_.append(text).append(id);
  records_.push_back(record);
}

bool EventQueue::next(callgate_event& event) {
  if (read_ == records_.size()) return false;
  const Record& record = records_[read_++];
  event = record.event;
  event.text = bytes_.data() + record.text;
  event.id = event.text + event.text_size;
  read_bytes_ = record.text + event.text_size + event.id_size;
  return true;
}

std::size_t EventQueue::unread() const {
  return bytes_.size() - read_bytes_ + (records_.size() - read_) * sizeof(Record);
}

}  // namespace callgate::c_api
