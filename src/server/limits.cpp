#include "server/limits.h"

#include <algorithm>

namespace callgate::server {

RateLimit::Verdict RateLimit::take(std::chrono::nanoseconds now) {
  Verdict verdict{.limit = per_minute_};
  if (per_minute_ <= 0) return verdict;
  constexpr std::int64_t kMinute = 60'000'000'000;
  const std::int64_t cost = kMinute / per_minute_;
  std::int64_t full_at = full_at_.load(std::memory_order_relaxed);
  for (;;) {
    const std::int64_t next = std::max(full_at, now.count()) + cost;
    const std::int64_t debt = next - now.count();
    if (debt > kMinute) {
      verdict.allowed = false;
      verdict.reset = std::chrono::nanoseconds(debt - cost);
      verdict.retry_after = std::chrono::nanoseconds(debt - kMinute);
      return verdict;
    }
    if (full_at_.compare_exchange_weak(full_at, next, std::memory_order_relaxed)) {
      verdict.remaining = (kMinute - debt) / cost;
      verdict.reset = std::chrono::nanoseconds(debt);
      return verdict;
    }
  }
}

bool ConcurrencyLimit::enter() {
  const std::int64_t before = running_.fetch_add(1, std::memory_order_relaxed);
  if (limit_ > 0 && before >= limit_) {
    leave();
    return false;
  }
  return true;
}

}  // namespace callgate::server
