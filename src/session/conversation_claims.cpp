#include "session/conversation_claims.h"

#include <algorithm>

namespace callgate::server {

// `granted` is guarded by the mutex, the rest belongs to the waiter's loop.
struct ConversationClaims::Waiter {
  explicit Waiter(net::Loop& its_loop) : loop(its_loop), signal(its_loop) {}
  net::Loop& loop;
  net::Signal signal;
  bool granted = false;
};

namespace {

constexpr std::size_t kMaxWaiters = 64;
constexpr net::Millis kFirstPause{10};
constexpr net::Millis kLastPause{250};

Error busy() {
  return {.code = ErrorCode::conflict,
          .message = "another request of this conversation is running; wait for its answer",
          .upstream_code = std::string(kConversationBusy)};
}

}  // namespace

void ConversationClaims::set_leases(store::Sessions* leases, bool closed) {
  leases_ = leases;
  closed_ = closed;
}

std::size_t ConversationClaims::held() const {
  const std::lock_guard lock(mutex_);
  return waiters_.size();
}

ConversationClaim::ConversationClaim(ConversationClaims& claims, net::Loop& loop)
    : claims_(claims), loop_(loop), retry_(loop) {}

ConversationClaim::~ConversationClaim() {
  if (waiter_ != nullptr) {
    // Destroyed while it waited: it leaves the queue, or passes on what it was just given.
    const std::lock_guard lock(claims_.mutex_);
    if (waiter_->granted) {
      name_ = wanted_;
    } else {
      std::erase(claims_.waiters_.find(wanted_)->second, waiter_);
    }
  }
  release();
}

net::Task<Result<void>> ConversationClaim::take(std::string name, Options options) {
  release();
  wanted_ = std::move(name);
  cancelled_ = false;
  const std::uint64_t begun = loop_.now();
  auto taken = co_await take_here(options);
  if (!taken || claims_.leases_ == nullptr) co_return taken;
  if (options.patience != net::kNever) {
    const net::Millis used(loop_.now() - begun);
    options.patience = std::max(options.patience - used, net::Millis(1));
  }
  auto leased = co_await take_lease(options);
  if (!leased) release();
  co_return leased;
}

net::Task<Result<void>> ConversationClaim::take_lease(Options options) {
  const std::uint64_t begun = loop_.now();
  holder_ = std::to_string(++claims_.last_holder_);
  const auto query = [name = name_, holder = holder_](store::Sessions::Tables& tables) {
    return tables.nodes.take(name, holder);
  };
  for (net::Millis pause = kFirstPause;; pause = std::min(pause * 2, kLastPause)) {
    lease_ = Lease::asked;
    auto taken = co_await claims_.leases_->ask(loop_, name_, query);
    if (!taken) {
      release_lease({});
      if (claims_.closed_) co_return tl::unexpected(std::move(taken.error()));
      co_return Result<void>();
    }
    lease_ = *taken ? Lease::held : Lease::none;
    if (*taken) co_return Result<void>();
    const net::Millis used(loop_.now() - begun);
    const bool late = options.patience != net::kNever && used >= options.patience;
    if (!options.wait || late || cancelled_) co_return tl::unexpected(busy());
    co_await retry_.wait(pause);
  }
}

net::Task<Result<void>> ConversationClaim::take_here(Options options) {
  {
    const std::lock_guard lock(claims_.mutex_);
    const auto [at, free] = claims_.waiters_.try_emplace(wanted_);
    if (free) {
      name_ = wanted_;
      co_return Result<void>();
    }
    if (!options.wait || at->second.size() >= kMaxWaiters) co_return tl::unexpected(busy());
    waiter_ = std::make_shared<ConversationClaims::Waiter>(loop_);
    at->second.push_back(waiter_);
  }
  co_await waiter_->signal.wait(options.patience);
  const std::lock_guard lock(claims_.mutex_);
  const std::shared_ptr<ConversationClaims::Waiter> waiter = std::move(waiter_);
  waiter_.reset();
  if (waiter->granted) {
    name_ = wanted_;
    co_return Result<void>();
  }
  std::erase(claims_.waiters_.find(wanted_)->second, waiter);
  co_return tl::unexpected(busy());
}

// One that was asked for may still be granted: it is then given back afterwards.
void ConversationClaim::release_lease(std::string_view after) {
  const Lease lease = std::exchange(lease_, Lease::none);
  if (lease == Lease::none) return;
  const std::string key(lease == Lease::held && !after.empty() ? after : name_);
  const auto release = [name = name_, holder = holder_](store::Sessions::Tables& tables) {
    return tables.nodes.release(name, holder);
  };
  claims_.leases_->submit(key, {.run = release, .done = {}, .patient = true});
}

void ConversationClaim::release(std::string_view after) {
  if (name_.empty()) return;
  release_lease(after);
  const std::lock_guard lock(claims_.mutex_);
  const auto at = claims_.waiters_.find(name_);
  name_.clear();
  if (at->second.empty()) {
    claims_.waiters_.erase(at);
    return;
  }
  const std::shared_ptr<ConversationClaims::Waiter> next = at->second.front();
  at->second.pop_front();
  next->granted = true;
  next->loop.post([next] { next->signal.notify(); });
}

void ConversationClaim::cancel() {
  cancelled_ = true;
  retry_.notify();
  if (waiter_ != nullptr) waiter_->signal.notify();
}

}  // namespace callgate::server
