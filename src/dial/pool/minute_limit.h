// MinuteLimit: so much per minute, with bursts up to that. What is taken may be corrected later: an estimate of tokens
// becomes their number.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace callgate::server {

class MinuteLimit {
 public:
  // 0 means no limit. What is left is kept in proportion.
  void set(std::int64_t per_minute, std::uint64_t now) {
    if (per_minute == per_minute_) return;
    refill(now);
    level_ = per_minute_ == 0 ? static_cast<double>(per_minute)
                              : std::min(level_, static_cast<double>(per_minute));
    per_minute_ = per_minute;
    at_ = now;
  }

  // When so much may be taken; `now` or earlier: at once. More than a whole minute's counts as that.
  std::uint64_t free_at(std::int64_t amount, std::uint64_t now) {
    if (per_minute_ == 0) return now;
    refill(now);
    const double wanted = static_cast<double>(std::min(amount, per_minute_));
    if (level_ >= wanted) return now;
    return now + static_cast<std::uint64_t>(std::ceil((wanted - level_) / per_ms()));
  }
  void take(std::int64_t amount, std::uint64_t now) {
    if (per_minute_ == 0) return;
    refill(now);
    level_ -= static_cast<double>(amount);
  }
  // It was not so much after all, or more.
  void correct(std::int64_t taken, std::int64_t real, std::uint64_t now) {
    take(real - taken, now);
    level_ = std::min(level_, static_cast<double>(per_minute_));
  }

 private:
  double per_ms() const { return static_cast<double>(per_minute_) / 60'000; }
  void refill(std::uint64_t now) {
    if (now > at_) {
      level_ = std::min(static_cast<double>(per_minute_),
                        level_ + per_ms() * static_cast<double>(now - at_));
    }
    at_ = std::max(at_, now);
  }

  std::int64_t per_minute_ = 0;
  double level_ = 0;
  std::uint64_t at_ = 0;
};

}  // namespace callgate::server
