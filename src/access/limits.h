// Limits per key and for the whole gateway. Shared by all event loops: lock-free. Gateways that share a store share the
// limits of a key as well (shared_limits.h): each then admits its own share.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace callgate::server {

// Requests or tokens per minute with bursts up to that number (GCRA: one timestamp says all).
class RateLimit {
 public:
  struct Verdict {
    bool allowed = true;
    std::int64_t limit = 0;
    std::int64_t remaining = 0;
    std::chrono::nanoseconds reset{0};        // until the whole burst is available again
    std::chrono::nanoseconds retry_after{0};  // until one more request is allowed; 0 when allowed
    bool low = false;                         // shared: this gateway wants more of the limit
  };

  // 0 means no limit.
  explicit RateLimit(std::int64_t per_minute) : per_minute_(per_minute) {}
  bool limited() const { return per_minute_ > 0; }
  std::int64_t per_minute() const { return per_minute_; }
  // `now` is monotonic. Of a shared limit more may be taken than this gateway has left, if it has any: it is paid back.
  Verdict take(std::chrono::nanoseconds now, std::int64_t amount = 1);
  // Used in any case, or with less than 0: given back.
  void charge(std::chrono::nanoseconds now, std::int64_t amount);

  // What this gateway was given, of which `held` were left when it was asked for; `left` is given to none. Until then,
  // and after use_part(), the limit is this gateway's own.
  void share(std::int64_t given, std::int64_t held, std::int64_t left,
             std::chrono::nanoseconds full_in);
  // The store is away: this gateway keeps to its part of the limit.
  void use_part(std::int64_t gateways);
  std::int64_t held() const { return shared_.load() ? held_.load() : 0; }
  // Uses since it was last asked.
  std::int64_t take_count() { return count_.exchange(0, std::memory_order_relaxed); }

 private:
  Verdict take_shared(std::int64_t amount);
  // Of one, in ns.
  std::int64_t cost() const;

  std::int64_t per_minute_;
  std::atomic<std::int64_t> full_at_{0};  // when the burst is whole again, in ns
  std::atomic<std::int64_t> gateways_{1};
  std::atomic<bool> shared_{false};
  std::atomic<std::int64_t> held_{0};
  std::atomic<std::int64_t> given_{0};
  std::atomic<std::int64_t> left_{0};
  std::atomic<std::int64_t> full_in_{0};  // in ns
  std::atomic<std::int64_t> count_{0};
};

// Counts what runs at the same time; 0 means no limit.
class ConcurrencyLimit {
 public:
  explicit ConcurrencyLimit(std::int64_t limit) : limit_(limit), allowed_(limit) {}

  bool enter();
  void leave() { running_.fetch_sub(1, std::memory_order_relaxed); }
  std::int64_t running() const { return running_.load(std::memory_order_relaxed); }
  std::int64_t limit() const { return limit_.load(std::memory_order_relaxed); }
  // Another limit from now on. What runs goes on.
  void set_limit(std::int64_t limit) {
    allow(limit);
    limit_.store(limit, std::memory_order_relaxed);
  }
  // One more would be refused.
  bool full() const { return limit() > 0 && running() >= allowed_.load(std::memory_order_relaxed); }
  // Of a limit that is shared: what this gateway may run of it.
  void allow(std::int64_t count) { allowed_.store(count, std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> limit_;
  std::atomic<std::int64_t> allowed_;
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
