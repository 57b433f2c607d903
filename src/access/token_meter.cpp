#include "access/token_meter.h"

#include <algorithm>
#include <chrono>

#include "access/shared_limits.h"
#include "config/price.h"
#include "net/unix_time.h"

namespace callgate::server {
namespace {

// A delta with more bytes than this on average has more than one token.
constexpr std::uint64_t kLongestToken = 12;

std::chrono::nanoseconds steady_now() {
  return std::chrono::steady_clock::now().time_since_epoch();
}

std::int64_t tokens_of(const Usage& usage) { return usage.prompt_tokens + usage.completion_tokens; }

}  // namespace

std::int64_t estimate_written(std::uint64_t bytes, std::uint64_t deltas) {
  const bool one_by_one = deltas * kLongestToken >= bytes;
  return static_cast<std::int64_t>(one_by_one ? std::min(deltas, bytes) : (bytes * 2 + 6) / 7);
}

TokenMeter::TokenMeter(Subject subject)
    : subject_(std::move(subject)), reserved_(subject_.reserved) {
  for (const auto& budget : subject_.key->budgets) budget->enter();
  want_more();
}

TokenMeter::~TokenMeter() {
  if (reserved_ > 0) subject_.key->tokens.charge(steady_now(), -reserved_);
  for (const auto& budget : subject_.key->budgets) budget->leave();
}

void TokenMeter::begin_answer(std::string_view upstream, std::int64_t prompt_tokens) {
  before_ = total();
  counted_ = {};
  counted_cost_ = 0;
  price_ = find_price(*subject_.prices, subject_.model, upstream);
  count({.prompt_tokens = prompt_tokens});
}

void TokenMeter::add(const TurnSummary& summary) {
  Usage now = counted_;
  const std::uint64_t bytes = summary.text_bytes + summary.reasoning_bytes +
                              summary.argument_bytes + summary.withheld_bytes;
  now.completion_tokens = std::max(now.completion_tokens, estimate_written(bytes, summary.deltas));
  if (now.completion_tokens != counted_.completion_tokens) count(now);
}

void TokenMeter::end_answer(const TurnSummary& summary, bool whole) {
  add(summary);
  if (!summary.usage) return;
  Usage now = counted_;
  if (summary.usage->prompt_stated) {
    now.prompt_tokens = summary.usage->prompt_tokens;
    now.cached_tokens = summary.usage->cached_tokens;
  }
  // An answer that was cut has at least what came of it; its upstream had not counted it yet.
  if (summary.usage->completion_stated) {
    const std::int64_t stated = summary.usage->completion_tokens;
    now.completion_tokens = whole ? stated : std::max(stated, now.completion_tokens);
    now.reasoning_tokens = summary.usage->reasoning_tokens;
  }
  count(now);
}

void TokenMeter::count(const Usage& now) {
  const std::int64_t tokens = tokens_of(now) - tokens_of(counted_);
  const std::int64_t cost = price_ == nullptr ? 0 : cost_of(*price_, now);
  KeyState& key = *subject_.key.operator->();
  bool low = false;
  for (const auto& budget : key.budgets) {
    budget->spend(budget->in_money() ? cost - counted_cost_ : tokens);
    low = low || budget->is_low();
  }
  if (key.tokens.limited()) {
    key.tokens.charge(steady_now(), tokens - std::exchange(reserved_, 0));
  }
  counted_ = now;
  counted_.total_tokens = tokens_of(now);
  counted_cost_ = cost;
  if (low) want_more();
}

Usage TokenMeter::total() const {
  Usage sum = before_;
  for (const auto member : {&Usage::prompt_tokens, &Usage::completion_tokens, &Usage::total_tokens,
                            &Usage::cached_tokens, &Usage::reasoning_tokens}) {
    sum.*member += counted_.*member;
  }
  return sum;
}

Budget::State TokenMeter::state() const {
  Budget::State worst = Budget::State::free;
  const auto& budgets = subject_.key->budgets;
  if (budgets.empty()) return worst;
  const std::int64_t now = net::unix_ms();
  for (const auto& budget : budgets) worst = std::max(worst, budget->state(now));
  return worst;
}

void TokenMeter::want_more() const {
  if (subject_.limits != nullptr && !subject_.key->budgets.empty()) subject_.limits->want_more();
}

Error TokenMeter::error() const {
  const std::int64_t now = net::unix_ms();
  const Budget::State worst = state();
  const bool known = subject_.limits != nullptr && subject_.limits->knows_budgets();
  if (worst != Budget::State::used_up && !known) {
    return {.code = ErrorCode::unavailable,
            .message = "the store is away, so what is left of the key's budget is unknown"};
  }
  for (const auto& budget : subject_.key->budgets) {
    if (budget->state(now) == worst) return budget->error(subject_.key->config.name, now);
  }
  return {.code = ErrorCode::unavailable, .message = "the budget of the key has just changed"};
}

}  // namespace callgate::server
