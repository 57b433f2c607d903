// The grace period of stop_after_tools = burst: starts anew with every finished call.
#pragma once

#include <cstdint>
#include <optional>

#include "net/loop.h"
#include "server/config.h"

namespace callgate::server {

class GraceTimer {
 public:
  explicit GraceTimer(Milliseconds period) : period_(static_cast<std::uint64_t>(period.count())) {}

  // What is left of it, nothing while none runs. `calls` is Pipeline::grace().
  std::optional<net::Millis> left(std::optional<std::uint32_t> calls, std::uint64_t now) {
    if (calls != calls_) end_ = now + period_;
    calls_ = calls;
    if (!calls) return std::nullopt;
    return net::Millis(end_ > now ? end_ - now : 0);
  }

 private:
  std::uint64_t period_;
  std::uint64_t end_ = 0;
  std::optional<std::uint32_t> calls_;
};

}  // namespace callgate::server
