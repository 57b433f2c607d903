// AddressLimits: what one client address may do, with or without a key. A bounded table: of more addresses than it has places,
// those that were not heard of for longest are forgotten.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "access/access.h"

namespace callgate::server {

class AddressLimits {
 public:
  using Time = std::chrono::nanoseconds;  // of a clock that only goes forward

  explicit AddressLimits(std::size_t places = 4096) : places_(places) {}

  // 0: no limit. Addresses that are known begin anew when the limits change.
  void set_limits(std::int64_t requests_per_minute, std::int64_t streams);
  // Addresses have limits.
  bool on() const { return on_.load(std::memory_order_relaxed); }
  // The counters of an address; nullptr when addresses have no limits. Those of one IPv6 network of 64 bits count as one.
  KeyRef find(std::string_view address, Time now);
  // Those whose requests are counted: to be shared by gateways. Their streams are each gateway's own.
  std::vector<std::shared_ptr<KeyState>> keys() const;
  std::size_t size() const;

 private:
  struct Place {
    std::shared_ptr<KeyState> key;
    Time used{0};
  };
  void make_room(Time now);

  const std::size_t places_;
  std::atomic<bool> on_{false};
  mutable std::mutex mutex_;
  std::int64_t requests_per_minute_ = 0;
  std::int64_t streams_ = 0;
  std::unordered_map<std::string, Place> by_name_;
};

}  // namespace callgate::server
