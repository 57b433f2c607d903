#include "access/shared_limits.h"

#include <algorithm>

namespace callgate::server {
namespace {

using std::chrono::steady_clock;

// A key that was unused for this many rounds is settled only once in as many.
constexpr std::uint64_t kIdleRounds = 20;
constexpr std::int64_t kBetweenWishes = 20;  // ms
// After this long without the store the others may have been given what was ours.
constexpr std::chrono::seconds kShareHolds{5};

std::int64_t steady_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             steady_clock::now().time_since_epoch())
      .count();
}

bool uses_budgets(const KeyState& key) {
  return std::any_of(key.budgets.begin(), key.budgets.end(),
                     [](const auto& budget) { return budget->is_in_use(); });
}

}  // namespace

SharedLimits::SharedLimits(store::Sessions& sessions, KeyBook* book, const AddressLimits* addresses)
    : sessions_(sessions), book_(book), addresses_(addresses), last_settled_(steady_clock::now()) {
  sessions_.set_tick([this](store::Sessions::Tables* tables) { tick(tables); });
}

SharedLimits::~SharedLimits() { sessions_.set_tick({}); }

void SharedLimits::set_keys(std::vector<std::shared_ptr<KeyState>> keys) {
  {
    const std::lock_guard lock(mutex_);
    keys_ = std::move(keys);
  }
  sessions_.tick_soon();
}

std::vector<std::shared_ptr<KeyState>> SharedLimits::limited_keys() const {
  std::vector<std::shared_ptr<KeyState>> keys;
  if (book_ != nullptr) keys = book_->keys();
  if (addresses_ != nullptr) {
    for (auto& key : addresses_->keys()) keys.push_back(std::move(key));
  }
  {
    const std::lock_guard lock(mutex_);
    keys.insert(keys.end(), keys_.begin(), keys_.end());
  }
  std::erase_if(keys, [](const auto& key) {
    return !key->rate.limited() && !key->counts_tokens() && key->config.max_streams <= 0;
  });
  std::sort(keys.begin(), keys.end(),
            [](const auto& a, const auto& b) { return a->config.name < b->config.name; });
  return keys;
}

bool SharedLimits::knows_budgets() const {
  const std::int64_t age = steady_ms() - budgets_known_.load(std::memory_order_relaxed);
  return age < std::chrono::milliseconds(kShareHolds).count();
}

void SharedLimits::want_more() {
  const std::int64_t now = steady_ms();
  std::int64_t last = last_wish_.load(std::memory_order_relaxed);
  if (now - last < kBetweenWishes) return;
  if (last_wish_.compare_exchange_strong(last, now)) sessions_.tick_soon();
}

bool SharedLimits::is_due(KeyState& key, std::uint64_t round) {
  const bool counted = key.rate.take_count() + key.tokens.take_count() > 0;
  const bool used = counted || key.streams.running() > 0 || uses_budgets(key);
  if (used || key.used_round == 0) key.used_round = round;
  const std::uint64_t idle = round - key.used_round;
  return idle < kIdleRounds || idle % kIdleRounds == 0;
}

void SharedLimits::tick(store::Sessions::Tables* tables) {
  // A book that cannot be read stays as it is; what is wrong with the store others report.
  if (book_ != nullptr && tables != nullptr) static_cast<void>(book_->refresh(tables->keys));
  settle(tables, sessions_.shared());
}

std::vector<std::shared_ptr<KeyState>> SharedLimits::keys_to_settle() {
  std::vector<std::shared_ptr<KeyState>> keys = limited_keys();
  for (const auto& old : settled_) {
    const bool gone = std::find(keys.begin(), keys.end(), old) == keys.end();
    if (gone && uses_budgets(*old)) keys.push_back(old);
  }
  std::stable_sort(keys.begin(), keys.end(),
                   [](const auto& a, const auto& b) { return a->config.name < b->config.name; });
  settled_ = keys;
  return keys;
}

void SharedLimits::settle(store::Sessions::Tables* tables, bool rates) {
  std::vector<std::shared_ptr<KeyState>> keys = keys_to_settle();
  ++round_;
  std::erase_if(keys, [&](const auto& key) { return !is_due(*key, round_); });
  if (tables != nullptr) settle_budgets(*tables, keys);
  if (rates) settle_rates(tables, std::move(keys));
}

// A key that is not due is unused and keeps what it has.
void SharedLimits::settle_budgets(store::Sessions::Tables& tables,
                                  const std::vector<std::shared_ptr<KeyState>>& keys) {
  std::vector<store::BudgetUse> uses;
  std::vector<Budget*> budgets;
  for (const auto& key : keys) {
    for (const auto& budget : key->budgets) {
      uses.push_back(budget->use(key->config.name));
      budgets.push_back(budget.get());
    }
  }
  if (!uses.empty()) {
    const auto shares = tables.budgets.share(uses);
    if (!shares) return;
    for (std::size_t i = 0; i < budgets.size(); ++i) budgets[i]->settle(uses[i], (*shares)[i]);
  }
  budgets_known_.store(steady_ms(), std::memory_order_relaxed);
}

void SharedLimits::settle_rates(store::Sessions::Tables* tables,
                                std::vector<std::shared_ptr<KeyState>> keys) {
  std::erase_if(keys, [](const auto& key) {
    return !key->rate.limited() && !key->tokens.limited() && key->config.max_streams <= 0;
  });
  if (keys.empty()) return;
  std::vector<store::KeyUse> uses;
  for (const auto& key : keys) {
    uses.push_back({.key_name = key->config.name,
                    .per_minute = key->config.requests_per_minute,
                    .held = key->rate.held(),
                    .tokens_per_minute = key->config.tokens_per_minute,
                    .tokens_held = key->tokens.held(),
                    .max_streams = key->config.max_streams,
                    .running = key->streams.running()});
  }
  if (tables == nullptr) return fall_back(keys);
  const auto shares = tables->nodes.share(uses);
  if (!shares) return fall_back(keys);
  last_settled_ = steady_clock::now();
  if (const auto living = tables->nodes.count()) gateways_ = std::max<std::int64_t>(1, *living);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const store::KeyShare& share = (*shares)[i];
    keys[i]->rate.share(share.requests, uses[i].held, share.left,
                        std::chrono::microseconds(share.full_in_us));
    keys[i]->tokens.share(share.tokens.given, uses[i].tokens_held, share.tokens.left,
                          std::chrono::microseconds(share.tokens.full_in_us));
    keys[i]->streams.allow(share.streams);
  }
}

// Alone, each gateway keeps to its part.
void SharedLimits::fall_back(const std::vector<std::shared_ptr<KeyState>>& keys) {
  if (steady_clock::now() - last_settled_ < kShareHolds) return;
  for (const auto& key : keys) {
    key->rate.use_part(gateways_);
    key->tokens.use_part(gateways_);
    const std::int64_t limit = key->config.max_streams;
    key->streams.allow(std::max<std::int64_t>(1, (limit + gateways_ - 1) / gateways_));
  }
}

}  // namespace callgate::server
