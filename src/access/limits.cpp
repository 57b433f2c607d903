#include "access/limits.h"

#include <algorithm>

namespace callgate::server {
namespace {

constexpr std::int64_t kMinute = 60'000'000'000;
// What a gateway was given of a shared limit may change as often.
constexpr std::chrono::milliseconds kShareAgain{250};

}  // namespace

RateLimit::Verdict RateLimit::take(std::chrono::nanoseconds now) {
  Verdict verdict{.limit = per_minute_};
  if (per_minute_ <= 0) return verdict;
  count_.fetch_add(1, std::memory_order_relaxed);
  if (shared_.load(std::memory_order_relaxed)) return take_shared();
  const std::int64_t gateways = gateways_.load(std::memory_order_relaxed);
  const std::int64_t cost = std::min(kMinute, kMinute / per_minute_ * gateways);
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

RateLimit::Verdict RateLimit::take_shared() {
  Verdict verdict{.limit = per_minute_};
  verdict.reset = std::chrono::nanoseconds(full_in_.load(std::memory_order_relaxed));
  const std::int64_t before = held_.fetch_sub(1, std::memory_order_relaxed);
  if (before <= 0) {
    held_.fetch_add(1, std::memory_order_relaxed);
    verdict.allowed = false;
    verdict.low = true;
    const std::chrono::nanoseconds one(kMinute / per_minute_);
    verdict.retry_after = std::max<std::chrono::nanoseconds>(one, kShareAgain);
    return verdict;
  }
  verdict.remaining = before - 1 + left_.load(std::memory_order_relaxed);
  verdict.low = before - 1 == given_.load(std::memory_order_relaxed) / 2;
  return verdict;
}

// What was taken meanwhile is missing from what is held, and may make it less than nothing: it is paid back with the next
// share.
void RateLimit::share(std::int64_t given, std::int64_t held, std::int64_t left,
                      std::chrono::nanoseconds full_in) {
  given_.store(given, std::memory_order_relaxed);
  left_.store(left, std::memory_order_relaxed);
  full_in_.store(full_in.count(), std::memory_order_relaxed);
  if (shared_.load()) {
    held_.fetch_add(given - held);
  } else {
    held_.store(given);
    shared_.store(true);
  }
}

void RateLimit::use_part(std::int64_t gateways) {
  gateways_.store(std::max<std::int64_t>(1, gateways), std::memory_order_relaxed);
  shared_.store(false);
}

bool ConcurrencyLimit::enter() {
  const std::int64_t before = running_.fetch_add(1, std::memory_order_relaxed);
  if (limit() > 0 && before >= allowed_.load(std::memory_order_relaxed)) {
    leave();
    return false;
  }
  return true;
}

}  // namespace callgate::server
