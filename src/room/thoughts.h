// Thoughts: reasoning that comes in pieces too small to be read one by one. They go out together, after a while or
// when they are many. I/O-free: the caller passes the time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "net/loop.h"

namespace callgate::server {

class Thoughts {
 public:
  static constexpr std::size_t kMostBytes = 1024;
  static constexpr std::uint64_t kLongestMs = 100;

  bool empty() const { return text_.empty(); }
  void add(std::string_view piece, std::uint64_t now) {
    if (text_.empty()) since_ = now;
    text_ += piece;
  }
  // Until they are due; nullopt if there are none.
  std::optional<net::Millis> left(std::uint64_t now) const {
    if (text_.empty()) return std::nullopt;
    const std::uint64_t waited = now - since_;
    const bool due = waited >= kLongestMs || text_.size() >= kMostBytes;
    return net::Millis(due ? 0 : kLongestMs - waited);
  }
  bool is_due(std::uint64_t now) const { return left(now) == net::Millis(0); }
  std::string take() { return std::exchange(text_, {}); }

 private:
  std::string text_;
  std::uint64_t since_ = 0;
};

}  // namespace callgate::server
