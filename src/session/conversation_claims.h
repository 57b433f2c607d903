// One request per conversation at a time, over all loops and, with a store that is shared, over all gateways. Others of
// this gateway wait in the order in which they came, or are refused. A gateway that wants what another one holds asks for
// it again and again, within a quarter of a second at the latest.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "callgate/result.h"
#include "net/loop.h"
#include "net/task.h"
#include "store/sessions.h"

namespace callgate::server {

// The code of the conflict that a request gets when it cannot have its conversation.
inline constexpr std::string_view kConversationBusy = "conversation_busy";

// Who holds which conversation. Any thread.
class ConversationClaims {
 public:
  // Before the first claim. `closed`: claims fail while the store is away; otherwise this gateway then decides alone.
  // REQUIRES: the store, which is shared, outlives all claims.
  void set_leases(store::Sessions* leases, bool closed);
  std::size_t held() const;

 private:
  friend class ConversationClaim;
  struct Waiter;

  store::Sessions* leases_ = nullptr;
  bool closed_ = false;
  std::atomic<std::uint64_t> last_holder_ = 0;
  mutable std::mutex mutex_;
  std::map<std::string, std::deque<std::shared_ptr<Waiter>>, std::less<>>
      waiters_;  // per held name
};

// The claim of one request, on its loop. It ends with its object.
class ConversationClaim {
 public:
  // REQUIRES: both outlive the claim.
  ConversationClaim(ConversationClaims& claims, net::Loop& loop);
  ~ConversationClaim();
  ConversationClaim(const ConversationClaim&) = delete;
  ConversationClaim& operator=(const ConversationClaim&) = delete;

  struct Options {
    bool wait = true;                    // else a conversation that is held gives a conflict
    net::Millis patience = net::kNever;  // how long; then as above
  };
  // Holds that conversation and no other.
  net::Task<Result<void>> take(std::string name, Options options);
  const std::string& name() const { return name_; }
  // With `after`, other gateways get it when the store has done whatever was submitted to it under that key.
  void release(std::string_view after = {});
  // A take() that waits fails soon after.
  void cancel();

 private:
  net::Task<Result<void>> take_here(Options options);
  net::Task<Result<void>> take_lease(Options options);
  void release_lease(std::string_view after);

  ConversationClaims& claims_;
  net::Loop& loop_;
  std::string name_;  // what is held; empty: nothing
  std::string wanted_;
  std::shared_ptr<ConversationClaims::Waiter> waiter_;
  enum class Lease : std::uint8_t { none, asked, held } lease_ = Lease::none;
  std::string holder_;
  net::Signal retry_;
  bool cancelled_ = false;
};

}  // namespace callgate::server
