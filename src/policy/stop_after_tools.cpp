#include "policy/stop_after_tools.h"

#include "base/check.h"

namespace callgate::policy {

void StopAfterToolCalls::push(const Event& event, EventSink& next) {
  if (state_ == State::cut) return drop(event, next);
  std::visit(Overloaded{
                 [&](const TextDelta&) { next.accept(event); },
                 [&](const ReasoningDelta&) { next.accept(event); },
                 [&](const RefusalDelta&) { next.accept(event); },
                 [&](const CallStarted&) {
                   state_ = State::in_call;
                   scanner_.reset();
                   next.accept(event);
                 },
                 [&](const ArgumentsDelta& e) { arguments(e, next); },
                 [&](const CallFinished& e) { finish_call(e, next); },
                 [&](const FieldReported&) { next.accept(event); },
                 [&](const UsageReported&) { next.accept(event); },
                 [&](const TurnFinished&) {
                   state_ = State::over;
                   next.accept(event);
                 },
             },
             event);
}

void StopAfterToolCalls::arguments(const ArgumentsDelta& event, EventSink& next) {
  const std::size_t taken = scanner_.push(event.bytes);
  if (!is_value_closed() || mode_ != StopAfterTools::first) return next.accept(event);
  if (taken > 0) next.accept(ArgumentsDelta{event.call, event.bytes.substr(0, taken)});
  withheld_.bytes += event.bytes.size() - taken;
  cut(next);
}

void StopAfterToolCalls::finish_call(const CallFinished& event, EventSink& next) {
  next.accept(event);
  ++calls_;
  if (event.outcome == CallOutcome::truncated) {
    state_ = State::before_calls;
    return;
  }
  state_ = State::after_call;
  if (mode_ == StopAfterTools::first) cut(next);  // a call without a value that closes by itself
}

std::optional<std::uint32_t> StopAfterToolCalls::grace() const {
  if (mode_ != StopAfterTools::burst) return std::nullopt;
  if (state_ == State::in_call && is_value_closed()) return calls_ + 1;
  return state_ == State::after_call ? std::optional(calls_) : std::nullopt;
}

void StopAfterToolCalls::cut(EventSink& next) {
  CALLGATE_CHECK(state_ == State::after_call || (state_ == State::in_call && is_value_closed()));
  if (state_ == State::in_call) {
    next.accept(CallFinished{
        calls_, scanner_.saw_raw_control() ? CallOutcome::malformed : CallOutcome::complete});
  }
  state_ = State::cut;
  if (at_once_) next.accept(TurnFinished{FinishReason::tool_calls});
}

void StopAfterToolCalls::drop(const Event& event, EventSink& next) {
  std::visit(Overloaded{
                 [&](const TextDelta& e) { withheld_.bytes += e.text.size(); },
                 [&](const ReasoningDelta& e) { withheld_.bytes += e.text.size(); },
                 [&](const RefusalDelta& e) { withheld_.bytes += e.text.size(); },
                 [&](const CallStarted&) { ++withheld_.calls; },
                 [&](const ArgumentsDelta& e) { withheld_.bytes += e.bytes.size(); },
                 [](const CallFinished&) {},
                 [&](const FieldReported& e) {
                   if (!at_once_ && e.scope == FieldReported::Scope::turn) next.accept(event);
                 },
                 [&](const UsageReported&) {
                   if (!at_once_) next.accept(event);
                 },
                 [&](const TurnFinished&) {
                   if (!at_once_) next.accept(TurnFinished{FinishReason::tool_calls});
                 },
             },
             event);
}

}  // namespace callgate::policy
