// RetryBudget: how many requests may be repeated, so that many clients whose requests fail do not become many times as many
// requests. Every request adds its part, every repeat takes one, and one a second comes by itself.
#pragma once

#include <algorithm>
#include <cstdint>

namespace callgate::server {

class RetryBudget {
 public:
  // Per 100 requests; 0 means no limit.
  void set_percent(std::int64_t percent) { percent_ = percent; }
  void add_request() { level_ = std::min(kMost, level_ + static_cast<double>(percent_) / 100); }
  // False: there is nothing left.
  bool take(std::uint64_t now) {
    if (percent_ == 0) return true;
    if (now > at_) level_ = std::min(kMost, level_ + static_cast<double>(now - at_) / 1000);
    at_ = std::max(at_, now);
    if (level_ < 1) return false;
    level_ -= 1;
    return true;
  }

 private:
  static constexpr double kMost = 100;
  std::int64_t percent_ = 20;
  double level_ = kMost;
  std::uint64_t at_ = 0;
};

}  // namespace callgate::server
