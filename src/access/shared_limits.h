// The limits of keys over all gateways that share a store. A request never waits for it: each gateway is given a share of
// what is left of a limit, uses it by itself, and settles with the store four times a second, or at once when it runs low.
// docs/scaling.md says how exact that is.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "access/access.h"
#include "store/sessions.h"

namespace callgate::server {

class SharedLimits {
 public:
  // REQUIRES: the sessions, which are shared, outlive it.
  explicit SharedLimits(store::Sessions& sessions);
  ~SharedLimits();
  SharedLimits(const SharedLimits&) = delete;
  SharedLimits& operator=(const SharedLimits&) = delete;

  // Any thread. The keys in force.
  void set_keys(std::vector<std::shared_ptr<KeyState>> keys);
  // Any thread: some limit runs low.
  void want_more();

  // Settles now. `tables` is nullptr while the store is away.
  void settle(store::Sessions::Tables* tables);

 private:
  bool is_due(KeyState& key, std::uint64_t round);
  void fall_back(const std::vector<std::shared_ptr<KeyState>>& keys);

  store::Sessions& sessions_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<KeyState>> keys_;
  std::atomic<std::int64_t> last_wish_{0};  // steady, in ms

  // Of the store's thread.
  std::uint64_t round_ = 0;
  std::int64_t gateways_ = 1;
  std::chrono::steady_clock::time_point last_settled_{};
};

}  // namespace callgate::server
