#include "net/timer_wheel.h"

#include <algorithm>

#include "base/check.h"

namespace callgate::net {

void DeadlineList::add(Deadline& deadline) {
  deadline.disarm();
  deadline.link_before(head_);
}

Deadline& DeadlineList::pop() {
  Deadline& first = *head_.next_;
  first.disarm();
  return first;
}

void DeadlineList::take_all(DeadlineList& other) {
  while (!other.empty()) other.pop().link_before(head_);
}

void DeadlineList::run() {
  DeadlineList due;
  due.take_all(*this);
  while (!due.empty()) {
    Deadline& first = due.pop();
    first.callback_(first.context_);
  }
}

void DeadlineList::clear() {
  while (!empty()) pop();
}

void TimerWheel::arm(Deadline& deadline, std::uint64_t tick) {
  CALLGATE_CHECK(tick > now_);
  deadline.disarm();
  deadline.tick_ = tick;
  place(deadline);
}

void TimerWheel::place(Deadline& deadline) {
  if (deadline.tick_ - now_ < kSlots) {
    near_[deadline.tick_ % kSlots].add(deadline);
    return;
  }
  const std::uint64_t last = now_ / kSlots + kSlots - 1;
  far_[std::min(deadline.tick_ / kSlots, last) % kSlots].add(deadline);
}

std::optional<std::uint64_t> TimerWheel::next_tick() const {
  std::optional<std::uint64_t> next;
  for (std::uint64_t tick = now_ + 1; tick < now_ + kSlots && !next; ++tick) {
    if (!near_[tick % kSlots].empty()) next = tick;
  }
  for (std::uint64_t group = now_ / kSlots + 1; group < now_ / kSlots + kSlots; ++group) {
    if (next && *next <= group * kSlots) break;
    if (!far_[group % kSlots].empty()) next = group * kSlots;
  }
  return next;
}

void TimerWheel::advance(std::uint64_t tick) {
  while (now_ < tick) {
    const std::optional<std::uint64_t> next = next_tick();
    if (!next || *next > tick) break;
    now_ = *next;
    run_slot(now_);
  }
  now_ = std::max(now_, tick);
}

void TimerWheel::run_slot(std::uint64_t tick) {
  // Detached first: callbacks may arm new deadlines into the very same slot.
  DeadlineList due;
  if (tick % kSlots == 0) due.take_all(far_[tick / kSlots % kSlots]);
  due.take_all(near_[tick % kSlots]);
  while (!due.empty()) {
    Deadline& first = due.pop();
    if (first.tick_ > tick) {
      place(first);
    } else {
      first.callback_(first.context_);
    }
  }
}

}  // namespace callgate::net
