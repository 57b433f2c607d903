// Which objects and arrays are open, innermost last: one bit each, no allocation.
#pragma once

#include <cstddef>
#include <cstdint>

namespace callgate::json {

inline constexpr std::size_t kMaxDepth = 128;

class Nesting {
 public:
  // False when kMaxDepth are open already.
  bool open(bool object) {
    if (depth_ == kMaxDepth) return false;
    const std::uint64_t bit = std::uint64_t{1} << (depth_ % 64);
    std::uint64_t& word = objects_[depth_ / 64];
    word = object ? word | bit : word & ~bit;
    ++depth_;
    return true;
  }
  // REQUIRES: depth() > 0.
  void close() { --depth_; }
  void clear() { depth_ = 0; }

  std::size_t depth() const { return depth_; }
  bool in_object() const {
    return depth_ > 0 && ((objects_[(depth_ - 1) / 64] >> ((depth_ - 1) % 64)) & 1) != 0;
  }
  bool in_array() const { return depth_ > 0 && !in_object(); }

 private:
  std::uint64_t objects_[kMaxDepth / 64] = {};
  std::size_t depth_ = 0;
};

}  // namespace callgate::json
