// Deadlines in two rings of slots: arming and disarming cost a few stores, whatever their number.
// Ticks are milliseconds of the owner's clock; the wheel itself asks no time.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace callgate::net {

// One moment to be called back at. Linked into a wheel while armed; unlinks itself when destroyed.
class Deadline {
 public:
  using Callback = void (*)(void* context);

  Deadline() = default;
  ~Deadline() { disarm(); }
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

  // Set once, before the first arming.
  void on_expiry(Callback callback, void* context) {
    callback_ = callback;
    context_ = context;
  }
  bool armed() const { return next_ != nullptr; }
  void disarm() {
    if (next_ == nullptr) return;
    next_->previous_ = previous_;
    previous_->next_ = next_;
    next_ = previous_ = nullptr;
  }

 private:
  friend class TimerWheel;
  friend class DeadlineList;
  void link_before(Deadline& head) {
    next_ = &head;
    previous_ = head.previous_;
    previous_->next_ = this;
    head.previous_ = this;
  }

  Deadline* next_ = nullptr;
  Deadline* previous_ = nullptr;
  std::uint64_t tick_ = 0;
  Callback callback_ = nullptr;
  void* context_ = nullptr;
};

// Deadlines to be called back in order, whatever their tick.
class DeadlineList {
 public:
  DeadlineList() { head_.next_ = head_.previous_ = &head_; }
  ~DeadlineList() { clear(); }
  DeadlineList(const DeadlineList&) = delete;
  DeadlineList& operator=(const DeadlineList&) = delete;

  bool empty() const { return head_.next_ == &head_; }
  void add(Deadline& deadline);
  // Calls back what is in the list now; what callbacks add waits for the next run.
  void run();
  void clear();

 private:
  friend class TimerWheel;
  void take_all(DeadlineList& other);
  Deadline& pop();

  Deadline head_;
};

class TimerWheel {
 public:
  // REQUIRES: tick > now(). Re-arming moves the deadline.
  void arm(Deadline& deadline, std::uint64_t tick);

  // The tick at which advance() next has work; may be earlier than the next expiry. Empty: nothing armed.
  std::optional<std::uint64_t> next_tick() const;

  // Moves the clock to `tick` and calls back what expired, in order of ticks. Callbacks may arm and
  // disarm anything.
  void advance(std::uint64_t tick);

  std::uint64_t now() const { return now_; }

 private:
  static constexpr std::size_t kSlots = 256;
  using Ring = std::array<DeadlineList, kSlots>;

  void place(Deadline& deadline);
  void run_slot(std::uint64_t tick);

  std::uint64_t now_ = 0;
  Ring near_;  // one slot per tick
  Ring far_;   // one slot per 256 ticks; what is beyond waits in the last one
};

}  // namespace callgate::net
