#include "access/budget.h"

#include <algorithm>

#include "base/amount.h"

namespace callgate::server {
namespace {

using store::BudgetKind;

std::string until_text(std::int64_t wait_ms) {
  const std::int64_t minutes = std::max<std::int64_t>(1, (wait_ms + 59'999) / 60'000);
  if (minutes < 120) return std::to_string(minutes) + " min";
  const std::int64_t hours = (minutes + 59) / 60;
  return hours < 72 ? std::to_string(hours) + " h" : std::to_string((hours + 23) / 24) + " days";
}

}  // namespace

Budget::State Budget::state(std::int64_t now_ms) const {
  if (used_up_.load(std::memory_order_relaxed)) {
    // A new day or month: the store says so soon.
    const bool over = now_ms >= ends_at_.load(std::memory_order_relaxed);
    return over ? State::waits : State::used_up;
  }
  const std::int64_t left =
      allowed_.load(std::memory_order_relaxed) - spent_.load(std::memory_order_relaxed);
  return left > 0 ? State::free : State::waits;
}

bool Budget::is_low() const {
  const std::int64_t left =
      allowed_.load(std::memory_order_relaxed) - spent_.load(std::memory_order_relaxed);
  return left * 2 <= given_.load(std::memory_order_relaxed);
}

bool Budget::is_in_use() const {
  return users_.load(std::memory_order_relaxed) > 0 ||
         spent_.load(std::memory_order_relaxed) != settled_;
}

store::BudgetUse Budget::use(const std::string& key_name) const {
  return {.key_name = key_name,
          .kind = kind_,
          .limit = limit_,
          .spent = spent_.load(std::memory_order_relaxed) - settled_,
          .wants = users_.load(std::memory_order_relaxed) > 0};
}

void Budget::settle(const store::BudgetUse& use, const store::BudgetShare& share) {
  settled_ += use.spent;
  ends_at_.store(share.ends_at, std::memory_order_relaxed);
  given_.store(share.given, std::memory_order_relaxed);
  allowed_.store(settled_ + share.given, std::memory_order_relaxed);
  used_up_.store(share.spent >= limit_, std::memory_order_relaxed);
}

Error Budget::error(std::string_view name, std::int64_t now_ms) const {
  const std::int64_t wait = std::max<std::int64_t>(1, ends_at_.load() - now_ms);
  const bool daily = kind_ == BudgetKind::tokens_per_day || kind_ == BudgetKind::cost_per_day;
  const std::string amount = in_money() ? print_amount(limit_) : std::to_string(limit_) + " tokens";
  return {.code = ErrorCode::rate_limited,
          .message = "the budget of " + amount + (daily ? " per day" : " per month") +
                     " is used up for key \"" + std::string(name) + "\"; it begins again in " +
                     until_text(wait),
          .type = "insufficient_quota",
          .upstream_code = "insufficient_quota",
          .retry_after = std::to_string((wait + 999) / 1000)};
}

Budgets make_budgets(const KeyConfig& key) {
  Budgets budgets;
  const auto add = [&](BudgetKind kind, std::int64_t limit) {
    if (limit > 0) budgets.push_back(std::make_unique<Budget>(kind, limit));
  };
  add(BudgetKind::tokens_per_day, key.tokens_per_day);
  add(BudgetKind::tokens_per_month, key.tokens_per_month);
  add(BudgetKind::cost_per_day, to_billionths(key.cost_per_day));
  add(BudgetKind::cost_per_month, to_billionths(key.cost_per_month));
  return budgets;
}

}  // namespace callgate::server
