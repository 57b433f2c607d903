// FirstTokens: how long an upstream took lately until its answers began, and whether that is slow beside its peers.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

namespace callgate::server {

class FirstTokens {
 public:
  static constexpr std::size_t kEnough = 3;  // to judge by

  void add(std::uint64_t milliseconds) {
    const auto value = static_cast<double>(milliseconds);
    average_ = count_ == 0 ? value : average_ + (value - average_) * kWeight;
    last_[count_++ % last_.size()] = milliseconds;
  }
  void clear() { *this = {}; }

  std::size_t count() const { return std::min(count_, last_.size()); }
  // Moving; nothing before the first.
  std::optional<double> average() const {
    return count_ == 0 ? std::nullopt : std::optional(average_);
  }
  // The shortest of the last ones: a long prompt takes its time anywhere, so that a single long wait says nothing. An
  // upstream that is slow is so for all.
  std::optional<std::uint64_t> least() const {
    if (count_ < kEnough) return std::nullopt;
    return *std::min_element(last_.begin(), last_.begin() + static_cast<std::ptrdiff_t>(count()));
  }

 private:
  static constexpr double kWeight = 0.3;
  std::array<std::uint64_t, 8> last_{};
  std::size_t count_ = 0;
  double average_ = 0;
};

// Beyond this a first token is slow, where the fastest peer takes `least`.
inline std::uint64_t slow_limit(std::uint64_t least, std::int64_t factor) {
  constexpr std::uint64_t kNoise = 50;
  if (factor <= 0) return std::numeric_limits<std::uint64_t>::max();
  return least * static_cast<std::uint64_t>(factor) + kNoise;
}

}  // namespace callgate::server
