// The time of day, for what is stored and shown. What measures a span uses a steady clock.
#pragma once

#include <chrono>
#include <cstdint>

namespace callgate::net {

inline std::int64_t unix_ms() {
  using std::chrono::milliseconds;
  using std::chrono::system_clock;
  return std::chrono::duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

}  // namespace callgate::net
