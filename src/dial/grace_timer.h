// A period that starts anew whenever a number changes: the grace of stop_after_tools = burst with every finished call,
// the wait of reasoning with every piece.
#pragma once

#include <cstdint>
#include <optional>

#include "config/config.h"
#include "net/loop.h"

namespace callgate::server {

class GraceTimer {
 public:
  explicit GraceTimer(Milliseconds period) : period_(static_cast<std::uint64_t>(period.count())) {}

  // What is left of it, nothing while none runs. `number` is Pipeline::grace() or held_reasoning().
  std::optional<net::Millis> left(std::optional<std::uint32_t> number, std::uint64_t now) {
    if (number != number_) end_ = now + period_;
    number_ = number;
    if (!number) return std::nullopt;
    return net::Millis(end_ > now ? end_ - now : 0);
  }

 private:
  std::uint64_t period_;
  std::uint64_t end_ = 0;
  std::optional<std::uint32_t> number_;
};

}  // namespace callgate::server
