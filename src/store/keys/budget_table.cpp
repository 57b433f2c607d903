#include "store/keys/budget_table.h"

#include <algorithm>
#include <array>
#include <chrono>

#include "store/session_table.h"

namespace callgate::store {
namespace {

// Smaller parts would make nodes ask for each token near the end: so much of the budget is given at a time, if it is there.
constexpr std::int64_t kSmallestPart = 200;
constexpr std::int64_t kBudgetsKept = std::int64_t{400} * 86'400'000;

Value budget_text(std::string_view value) { return value; }

}  // namespace

std::string_view to_string(BudgetKind kind) {
  switch (kind) {
    case BudgetKind::tokens_per_day:
      return "tokens_per_day";
    case BudgetKind::tokens_per_month:
      return "tokens_per_month";
    case BudgetKind::cost_per_day:
      return "cost_per_day";
    case BudgetKind::cost_per_month:
      return "cost_per_month";
  }
  return {};
}

BudgetSpan budget_span(BudgetKind kind, std::int64_t now_ms) {
  using namespace std::chrono;
  const auto to_ms = [](sys_days day) {
    return static_cast<std::int64_t>(duration_cast<milliseconds>(day.time_since_epoch()).count());
  };
  const sys_days today = floor<days>(sys_time<milliseconds>(milliseconds(now_ms)));
  if (kind == BudgetKind::tokens_per_day || kind == BudgetKind::cost_per_day) {
    return {to_ms(today), to_ms(today + days(1))};
  }
  const year_month_day date(today);
  const year_month month = date.year() / date.month();
  return {to_ms(sys_days(month / day(1))), to_ms(sys_days((month + months(1)) / day(1)))};
}

BudgetTable::BudgetTable(Database& database, std::string node)
    : database_(database), node_(std::move(node)), now_(now_expression(database.engine())) {}

std::string BudgetTable::sql(std::string_view text) const { return with_now(text, now_); }

Attempt<std::vector<BudgetShare>> BudgetTable::share(std::span<const BudgetUse> uses) {
  std::vector<BudgetShare> shares;
  auto transaction = Transaction::begin(database_);
  if (!transaction) return tl::unexpected(transaction.error());
  const auto times =
      database_.query(sql("SELECT {now}, count(*) FROM node WHERE alive_to > {now}"));
  if (!times) return tl::unexpected(times.error());
  const std::int64_t now = (*times)[0].integer(0);
  const std::int64_t nodes = std::max<std::int64_t>(1, (*times)[0].integer(1));
  for (const BudgetUse& use : uses) {
    auto share = share_one(use, now, nodes);
    if (!share) return tl::unexpected(share.error());
    shares.push_back(*share);
  }
  if (const auto committed = transaction->commit(); !committed) {
    return tl::unexpected(committed.error());
  }
  return shares;
}

// The row is changed before anything is read, which locks it until the end of the transaction. What this node held is given
// back first; others that live keep theirs until they settle.
Attempt<BudgetShare> BudgetTable::share_one(const BudgetUse& use, std::int64_t now,
                                            std::int64_t nodes) {
  const BudgetSpan span = budget_span(use.kind, now);
  const std::array added = {budget_text(use.key_name), budget_text(to_string(use.kind)),
                            Value(span.begins), Value(use.spent)};
  const Attempt<Rows> rows = database_.query(
      "INSERT INTO budget (key_name, kind, begins, spent) VALUES ($1, $2, $3, $4) ON CONFLICT "
      "(key_name, kind, begins) DO UPDATE SET spent = budget.spent + excluded.spent RETURNING "
      "spent",
      added);
  if (!rows) return tl::unexpected(rows.error());
  BudgetShare share{.spent = (*rows)[0].integer(0), .ends_at = span.ends};
  const std::array who = {budget_text(use.key_name), budget_text(to_string(use.kind)),
                          Value(span.begins), budget_text(node_)};
  const auto others = database_.integer(
      sql("SELECT CAST(coalesce(sum(s.held), 0) AS bigint) FROM budget_share s JOIN node n ON "
          "n.id = s.node WHERE s.key_name = $1 AND s.kind = $2 AND s.begins = $3 AND s.node <> $4 "
          "AND n.alive_to > {now}"),
      who);
  if (!others) return tl::unexpected(others.error());
  const std::int64_t left = std::max<std::int64_t>(0, use.limit - share.spent - *others);
  const std::int64_t part =
      std::max({std::int64_t{1}, (left + nodes - 1) / nodes, use.limit / kSmallestPart});
  share.given = use.wants ? std::min(left, part) : 0;
  const std::array held = {budget_text(use.key_name), budget_text(to_string(use.kind)),
                           Value(span.begins), budget_text(node_), Value(share.given)};
  const auto kept = database_.change(
      "INSERT INTO budget_share (key_name, kind, begins, node, held) VALUES ($1, $2, $3, $4, $5) "
      "ON CONFLICT (key_name, kind, node) DO UPDATE SET begins = excluded.begins, held = "
      "excluded.held",
      held);
  if (!kept) return tl::unexpected(kept.error());
  return share;
}

Attempt<void> BudgetTable::sweep() {
  const std::array kept = {Value(kBudgetsKept)};
  const std::string budgets = sql("DELETE FROM budget WHERE begins < {now} - CAST($1 AS bigint)");
  const std::string shares =
      sql("DELETE FROM budget_share WHERE NOT EXISTS (SELECT 1 FROM node n WHERE n.id = "
          "budget_share.node AND n.alive_to > {now})");
  const std::array commands = {Command{budgets, kept}, Command{shares, {}}};
  const auto changed = database_.batch(commands);
  if (!changed) return tl::unexpected(changed.error());
  return {};
}

}  // namespace callgate::store
