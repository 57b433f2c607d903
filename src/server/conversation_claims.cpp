#include "server/conversation_claims.h"

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

Error busy() {
  return {.code = ErrorCode::conflict,
          .message = "another request of this conversation is running; wait for its answer",
          .upstream_code = std::string(kConversationBusy)};
}

}  // namespace

std::size_t ConversationClaims::held() const {
  const std::lock_guard lock(mutex_);
  return waiters_.size();
}

ConversationClaim::ConversationClaim(ConversationClaims& claims, net::Loop& loop)
    : claims_(claims), loop_(loop) {}

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

void ConversationClaim::release() {
  if (name_.empty()) return;
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
  if (waiter_ != nullptr) waiter_->signal.notify();
}

}  // namespace callgate::server
