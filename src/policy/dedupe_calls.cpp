#include "policy/dedupe_calls.h"

#include <algorithm>
#include <utility>

namespace callgate::policy {

void DedupeCalls::push(const Event& event, EventSink& next) {
  std::visit(Overloaded{
                 [&](const TextDelta&) { next.accept(event); },
                 [&](const ReasoningDelta&) { next.accept(event); },
                 [&](const RefusalDelta&) { next.accept(event); },
                 [&](const CallStarted& e) { start(e, next); },
                 [&](const ArgumentsDelta& e) { arguments(e, next); },
                 [&](const CallFinished& e) { finish(e, next); },
                 [&](const FieldReported&) { next.accept(event); },
                 [&](const UsageReported&) { next.accept(event); },
                 [&](const TurnFinished& e) { passed_.finish_turn(e.reason, next); },
             },
             event);
}

void DedupeCalls::start(const CallStarted& event, EventSink& next) {
  const bool known = std::any_of(seen_.begin(), seen_.end(),
                                 [&](const Call& call) { return call.name == event.name; });
  open_ = {std::string(event.name), std::string(event.native_id), {}};
  state_ = known ? State::held_back : State::passing;
  if (!known) passed_.start(event, next);
}

void DedupeCalls::arguments(const ArgumentsDelta& event, EventSink& next) {
  const bool fits = open_.arguments.size() + event.bytes.size() <= max_held_back_;
  if (fits && state_ != State::too_long) open_.arguments.append(event.bytes);
  if (state_ == State::held_back && fits) return;
  if (state_ == State::held_back) release(next);
  if (!fits) state_ = State::too_long;
  passed_.arguments(event.bytes, next);
}

void DedupeCalls::finish(const CallFinished& event, EventSink& next) {
  const State state = std::exchange(state_, State::none);
  if (state == State::held_back) {
    const bool repeated = std::any_of(seen_.begin(), seen_.end(), [&](const Call& call) {
      return call.name == open_.name && call.arguments == open_.arguments;
    });
    if (repeated) {
      ++withheld_.calls;
      withheld_.bytes += open_.arguments.size();
      return;
    }
    release(next);
  }
  passed_.finish(event.outcome, next);
  if (state != State::too_long) seen_.push_back(std::move(open_));
}

void DedupeCalls::release(EventSink& next) {
  passed_.start(CallStarted{0, open_.name, open_.id}, next);
  passed_.arguments(open_.arguments, next);
}

}  // namespace callgate::policy
