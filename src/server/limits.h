// Limits per key and for the whole gateway. Shared by all event loops: lock-free.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace callgate::server {

// Requests per minute with bursts up to that number (GCRA: one timestamp says all).
class RateLimit {
 public:
  struct Verdict {
    bool allowed = true;
    std::int64_t limit = 0;
    std::int64_t remaining = 0;
    std::chrono::nanoseconds reset{0};        // until the whole burst is available again
    std::chrono::nanoseconds retry_after{0};  // until one more request is allowed; 0 when allowed
  };

  // 0 means no limit.
  explicit RateLimit(std::int64_t per_minute) : per_minute_(per_minute) {}
  bool limited() const { return per_minute_ > 0; }
  // `now` is monotonic.
  Verdict take(std::chrono::nanoseconds now);

 private:
  std::int64_t per_minute_;
  std::atomic<std::int64_t> full_at_{0};  // when the burst is whole again, in ns
};

// Counts what runs at the same time; 0 means no limit.
class ConcurrencyLimit {
 public:
  explicit ConcurrencyLimit(std::int64_t limit) : limit_(limit) {}

  bool enter();
  void leave() { running_.fetch_sub(1, std::memory_order_relaxed); }
  std::int64_t running() const { return running_.load(std::memory_order_relaxed); }
  std::int64_t limit() const { return limit_; }

 private:
  std::int64_t limit_;
  std::atomic<std::int64_t> running_{0};
};

// Leaves the limit when it goes out of scope.
class ConcurrencySlot {
 public:
  ConcurrencySlot() = default;
  explicit ConcurrencySlot(ConcurrencyLimit& limit) : limit_(limit.enter() ? &limit : nullptr) {}
  ConcurrencySlot(ConcurrencySlot&& other) noexcept : limit_(other.limit_) {
    other.limit_ = nullptr;
  }
  ConcurrencySlot& operator=(ConcurrencySlot&&) = delete;
  ~ConcurrencySlot() {
    if (limit_ != nullptr) limit_->leave();
  }
  explicit operator bool() const { return limit_ != nullptr; }

 private:
  ConcurrencyLimit* limit_ = nullptr;
};

}  // namespace callgate::server
