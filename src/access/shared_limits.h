// The limits of keys over all gateways that share a store. A request never waits for it: each gateway is given a share of
// what is left of a limit, uses it by itself, and settles with the store four times a second, or at once when it runs low.
// docs/scaling.md says how exact that is. It is also what reads the keys of the store again when they have changed.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "access/access.h"
#include "access/address_limits.h"
#include "access/key_book.h"
#include "store/sessions.h"

namespace callgate::server {

class SharedLimits {
 public:
  // `book`: the keys of the store, `addresses`: those that have limits; nullptr: there are none. REQUIRES: all of them
  // outlive it.
  explicit SharedLimits(store::Sessions& sessions, KeyBook* book = nullptr,
                        const AddressLimits* addresses = nullptr);
  ~SharedLimits();
  SharedLimits(const SharedLimits&) = delete;
  SharedLimits& operator=(const SharedLimits&) = delete;

  // Any thread. The keys of the file that are in force.
  void set_keys(std::vector<std::shared_ptr<KeyState>> keys);
  // Any thread: some limit runs low.
  void want_more();

  // A thread of the store: reads the keys, and settles. `tables` is nullptr while the store is away.
  void tick(store::Sessions::Tables* tables);
  // Settles now. `rates`: also what is shared only where several gateways use the store.
  void settle(store::Sessions::Tables* tables, bool rates = true);
  // Any thread: the store was heard of lately, so that budgets are as they say.
  bool knows_budgets() const;

 private:
  // Those that have limits, of the file and of the store, by name.
  std::vector<std::shared_ptr<KeyState>> limited_keys() const;
  // With those that are limited no more, while answers of theirs still run.
  std::vector<std::shared_ptr<KeyState>> keys_to_settle();
  bool is_due(KeyState& key, std::uint64_t round);
  void settle_rates(store::Sessions::Tables* tables, std::vector<std::shared_ptr<KeyState>> keys);
  void settle_budgets(store::Sessions::Tables& tables,
                      const std::vector<std::shared_ptr<KeyState>>& keys);
  void fall_back(const std::vector<std::shared_ptr<KeyState>>& keys);

  store::Sessions& sessions_;
  KeyBook* const book_;
  const AddressLimits* const addresses_;
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<KeyState>> keys_;
  std::atomic<std::int64_t> last_wish_{0};      // steady, in ms
  std::atomic<std::int64_t> budgets_known_{0};  // likewise

  // Of the store's thread.
  std::uint64_t round_ = 0;
  std::int64_t gateways_ = 1;
  std::vector<std::shared_ptr<KeyState>> settled_;  // in the round before
  std::chrono::steady_clock::time_point last_settled_{};
};

}  // namespace callgate::server
