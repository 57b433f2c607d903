#include "access/limits.h"

#include <algorithm>

namespace callgate::server {
namespace {

constexpr std::int64_t kMinute = 60'000'000'000;
// What a gateway was given of a shared limit may change as often.
constexpr std::chrono::milliseconds kShareAgain{250};

}  // namespace

std::int64_t RateLimit::cost() const {
  return std::min(kMinute, kMinute / per_minute_ * gateways_.load(std::memory_order_relaxed));
}

RateLimit::Verdict RateLimit::take(std::chrono::nanoseconds now, std::int64_t amount) {
  Verdict verdict{.limit = per_minute_};
  if (per_minute_ <= 0) return verdict;
  count_.fetch_add(1, std::memory_order_relaxed);
  if (shared_.load(std::memory_order_relaxed)) return take_shared(amount);
  const std::int64_t each = cost();
  const std::int64_t all = std::min(kMinute, each * std::min(amount, per_minute_));
  std::int64_t full_at = full_at_.load(std::memory_order_relaxed);
  for (;;) {
    const std::int64_t next = std::max(full_at, now.count()) + all;
    const std::int64_t debt = next - now.count();
    if (debt > kMinute) {
      verdict.allowed = false;
      verdict.reset = std::chrono::nanoseconds(debt - all);
      verdict.retry_after = std::chrono::nanoseconds(debt - kMinute);
      return verdict;
    }
    if (full_at_.compare_exchange_weak(full_at, next, std::memory_order_relaxed)) {
      verdict.remaining = (kMinute - debt) / each;
      verdict.reset = std::chrono::nanoseconds(debt);
      return verdict;
    }
  }
}

RateLimit::Verdict RateLimit::take_shared(std::int64_t amount) {
  Verdict verdict{.limit = per_minute_};
  verdict.reset = std::chrono::nanoseconds(full_in_.load(std::memory_order_relaxed));
  const std::int64_t before = held_.fetch_sub(amount, std::memory_order_relaxed);
  if (before <= 0) {
    held_.fetch_add(amount, std::memory_order_relaxed);
    verdict.allowed = false;
    verdict.low = true;
    const std::int64_t needed = std::min(amount - before, per_minute_);
    const std::chrono::nanoseconds refilled(kMinute / per_minute_ * needed);
    verdict.retry_after = std::max<std::chrono::nanoseconds>(refilled, kShareAgain);
    return verdict;
  }
  const std::int64_t after = before - amount;
  const std::int64_t half = given_.load(std::memory_order_relaxed) / 2;
  verdict.remaining = std::max<std::int64_t>(0, after + left_.load(std::memory_order_relaxed));
  verdict.low = before > half && after <= half;
  return verdict;
}

void RateLimit::charge(std::chrono::nanoseconds now, std::int64_t amount) {
  if (per_minute_ <= 0 || amount == 0) return;
  count_.fetch_add(1, std::memory_order_relaxed);
  if (shared_.load(std::memory_order_relaxed)) {
    held_.fetch_sub(amount, std::memory_order_relaxed);
    return;
  }
  const std::int64_t all = cost() * amount;
  std::int64_t full_at = full_at_.load(std::memory_order_relaxed);
  while (!full_at_.compare_exchange_weak(full_at, std::max(full_at, now.count()) + all,
                                         std::memory_order_relaxed)) {
  }
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
