#include "access/shared_limits.h"

#include <algorithm>

namespace callgate::server {
namespace {

using std::chrono::steady_clock;

// A key that nobody used for so many rounds is settled only as often.
constexpr std::uint64_t kIdleRounds = 20;
constexpr std::int64_t kBetweenWishes = 20;  // ms
// After this long without the store the others may have been given what was ours.
constexpr std::chrono::seconds kShareHolds{5};

}  // namespace

SharedLimits::SharedLimits(store::Sessions& sessions, KeyBook* book)
    : sessions_(sessions), book_(book), last_settled_(steady_clock::now()) {
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
  {
    const std::lock_guard lock(mutex_);
    keys.insert(keys.end(), keys_.begin(), keys_.end());
  }
  std::erase_if(keys, [](const auto& key) {
    return key->config.requests_per_minute <= 0 && key->config.max_streams <= 0;
  });
  std::sort(keys.begin(), keys.end(),
            [](const auto& a, const auto& b) { return a->config.name < b->config.name; });
  return keys;
}

void SharedLimits::want_more() {
  const std::int64_t now =
      std::chrono::duration_cast<std::chrono::milliseconds>(steady_clock::now().time_since_epoch())
          .count();
  std::int64_t last = last_wish_.load(std::memory_order_relaxed);
  if (now - last < kBetweenWishes) return;
  if (last_wish_.compare_exchange_strong(last, now)) sessions_.tick_soon();
}

bool SharedLimits::is_due(KeyState& key, std::uint64_t round) {
  const bool used = key.rate.take_count() > 0 || key.streams.running() > 0;
  if (used || key.used_round == 0) key.used_round = round;
  const std::uint64_t idle = round - key.used_round;
  return idle < kIdleRounds || idle % kIdleRounds == 0;
}

void SharedLimits::tick(store::Sessions::Tables* tables) {
  // A book that cannot be read stays as it is; what is wrong with the store others report.
  if (book_ != nullptr && tables != nullptr) static_cast<void>(book_->refresh(tables->keys));
  if (sessions_.shared()) settle(tables);
}

void SharedLimits::settle(store::Sessions::Tables* tables) {
  std::vector<std::shared_ptr<KeyState>> keys = limited_keys();
  ++round_;
  std::erase_if(keys, [&](const auto& key) { return !is_due(*key, round_); });
  if (keys.empty()) return;
  std::vector<store::KeyUse> uses;
  for (const auto& key : keys) {
    uses.push_back({.key_name = key->config.name,
                    .per_minute = key->config.requests_per_minute,
                    .held = key->rate.held(),
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
    keys[i]->streams.allow(share.streams);
  }
}

// Alone, each gateway keeps to its part.
void SharedLimits::fall_back(const std::vector<std::shared_ptr<KeyState>>& keys) {
  if (steady_clock::now() - last_settled_ < kShareHolds) return;
  for (const auto& key : keys) {
    key->rate.use_part(gateways_);
    const std::int64_t limit = key->config.max_streams;
    key->streams.allow(std::max<std::int64_t>(1, (limit + gateways_ - 1) / gateways_));
  }
}

}  // namespace callgate::server
