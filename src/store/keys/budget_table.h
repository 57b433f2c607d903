// What keys have used of their budgets, over all gateways that share a database. Each call is one transaction on a connection
// that blocks. Days and months are those of UTC, by the database's own clock.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/database.h"

namespace callgate::store {

enum class BudgetKind : std::uint8_t {
  tokens_per_day,
  tokens_per_month,
  cost_per_day,
  cost_per_month
};
std::string_view to_string(BudgetKind kind);

// What a node has used since it was last settled.
struct BudgetUse {
  std::string key_name;
  BudgetKind kind = BudgetKind::tokens_per_day;
  std::int64_t limit = 0;
  std::int64_t spent = 0;
  bool wants = false;  // it may need more at any moment
};

// What it may use from now on.
struct BudgetShare {
  std::int64_t given = 0;
  std::int64_t spent = 0;    // of all nodes, as far as the store knows
  std::int64_t ends_at = 0;  // when the budget begins again, Unix milliseconds
};

// When the day or month that `now_ms` lies in began, and when the next one does; Unix milliseconds, UTC.
struct BudgetSpan {
  std::int64_t begins = 0;
  std::int64_t ends = 0;
};
BudgetSpan budget_span(BudgetKind kind, std::int64_t now_ms);

class BudgetTable {
 public:
  // REQUIRES: the database, which is migrated, outlives the table.
  BudgetTable(Database& database, std::string node);

  // All in one transaction. A fault that leaves open whether it was done (`lost`, `timed_out`) may count the same use
  // twice when it is settled again: at most what came within one tick.
  // REQUIRES: sorted by key and kind, so that nodes do not wait for each other in a circle.
  Attempt<std::vector<BudgetShare>> share(std::span<const BudgetUse> uses);
  // Forgets days and months that are long over, and what nodes that died have held.
  Attempt<void> sweep();

 private:
  Attempt<BudgetShare> share_one(const BudgetUse& use, std::int64_t now, std::int64_t nodes);
  // With the engine's clock for {now}.
  std::string sql(std::string_view text) const;

  Database& database_;
  const std::string node_;
  const std::string_view now_;
};

}  // namespace callgate::store
