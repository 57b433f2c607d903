// Budget: how many tokens, or how much money, a key may use in a day or a month (UTC). Shared by all event loops, lock-free.
//
// What is used is counted here at once, and in the store a moment later (SharedLimits). The store allows this gateway a part
// of what is left. A node that has used its part up waits for the next one, until the store says that nothing is left.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "callgate/error.h"
#include "config/config.h"
#include "store/keys/budget_table.h"

namespace callgate::server {

class Budget {
 public:
  enum class State : std::uint8_t {
    free,     // go on
    waits,    // this gateway has nothing left of it, others may: ask again
    used_up,  // until it begins again
  };

  // `limit` is in tokens, or in billionths of the currency.
  Budget(store::BudgetKind kind, std::int64_t limit) : kind_(kind), limit_(limit) {}

  store::BudgetKind kind() const { return kind_; }
  bool in_money() const {
    return kind_ == store::BudgetKind::cost_per_day || kind_ == store::BudgetKind::cost_per_month;
  }

  // What was used, or with less than 0: what turned out not to be.
  void spend(std::int64_t amount) { spent_.fetch_add(amount, std::memory_order_relaxed); }
  State state(std::int64_t now_ms) const;
  // Less than half of what was allowed is left: more should be asked for.
  bool is_low() const;
  // Answers that may use of it, so that idle gateways hold nothing.
  void enter() { users_.fetch_add(1, std::memory_order_relaxed); }
  void leave() { users_.fetch_sub(1, std::memory_order_relaxed); }

  // A thread of the store, one at a time.
  bool is_in_use() const;
  store::BudgetUse use(const std::string& key_name) const;
  void settle(const store::BudgetUse& use, const store::BudgetShare& share);

  // Of one that is used up, for key `name`.
  Error error(std::string_view name, std::int64_t now_ms) const;

 private:
  const store::BudgetKind kind_;
  const std::int64_t limit_;
  // Both count up from the start of the process: what is left here is their difference.
  std::atomic<std::int64_t> spent_{0};
  std::atomic<std::int64_t> allowed_{0};
  std::atomic<std::int64_t> given_{0};
  std::atomic<std::int64_t> users_{0};
  std::atomic<bool> used_up_{false};
  std::atomic<std::int64_t> ends_at_{0};  // Unix milliseconds
  std::int64_t settled_ = 0;  // of the store's thread: how much of `spent_` the store knows
};

using Budgets = std::vector<std::unique_ptr<Budget>>;

// Those that the key has.
Budgets make_budgets(const KeyConfig& key);

}  // namespace callgate::server
