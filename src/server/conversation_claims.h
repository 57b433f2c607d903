// One request per conversation at a time, over all loops. Others wait in the order in which they came, or are refused.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "callgate/result.h"
#include "net/loop.h"
#include "net/task.h"

namespace callgate::server {

// The code of the conflict that a request gets when it cannot have its conversation.
inline constexpr std::string_view kConversationBusy = "conversation_busy";

// Who holds which conversation. Any thread.
class ConversationClaims {
 public:
  std::size_t held() const;

 private:
  friend class ConversationClaim;
  struct Waiter;

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
  void release();
  // A take() that waits fails soon after.
  void cancel();

 private:
  ConversationClaims& claims_;
  net::Loop& loop_;
  std::string name_;  // what is held; empty: nothing
  std::string wanted_;
  std::shared_ptr<ConversationClaims::Waiter> waiter_;
};

}  // namespace callgate::server
