// The answers that upstreams keep, over restarts and over gateways: what this process knows is a cache in front of the
// store's sessions, and every change is written through. The store decides: who follows an answer says on which version
// of its session that was decided, and looks again when another gateway was first. So a session is a chain that never
// forks; what follows an answer that has been followed already is a session of its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "callgate/result.h"
#include "net/loop.h"
#include "net/task.h"
#include "session/conversations.h"
#include "store/sessions.h"

namespace callgate::server {

// Whose conversation it is.
struct SessionOwner {
  std::string key_name;
  std::string upstream;
  std::string model;
  std::string name;    // as the client calls it
  std::string parent;  // the session that this one branches off
};

struct SessionTurn {
  ConversationIdentity who;
  CanonicalAnswer answer;
  bool cut = false;
  KeptAnswer kept;  // its version is that of the session before this answer
  SessionOwner owner;
  std::string request;
};

// Any thread; tasks on the loop that they are given. A store that fails is an error only when `closed`.
class StoredConversations {
 public:
  // REQUIRES: the cache outlives it.
  explicit StoredConversations(MemoryConversations& cache) : cache_(cache) {}

  // Before the first request. `closed`: a request that needs the store fails while it is away; else the cache is used
  // alone and the store is updated later. nullptr without a store.
  // REQUIRES: the sessions outlive the last use.
  void set_store(store::Sessions* sessions, bool closed);
  store::Sessions* store() { return store_; }
  // Calls of the store that failed.
  std::uint64_t failures() const { return failures_.load(std::memory_order_relaxed); }

  using Found = FoundAnswer;
  net::Task<Result<std::optional<Found>>> find(net::Loop& loop, const ConversationIdentity& who,
                                               std::string_view session);
  net::Task<Result<std::optional<Found>>> find_opening(net::Loop& loop, const Identity& opening);
  // The name of a session of that key; nothing when it has no such session.
  net::Task<Result<std::optional<std::string>>> find_name(net::Loop& loop, std::string session,
                                                          std::string key_name);
  // A message is about to follow that answer, which none follows yet. False: another was first, look again.
  net::Task<Result<bool>> follow(net::Loop& loop, Found& found, std::string upstream);
  // It did not.
  void unfollow(const KeptAnswer& kept, const std::string& upstream);

  // Done when other gateways know of it, or the store cannot take it now.
  net::Task<> begin(net::Loop& loop, SessionTurn turn);
  void drop(const KeptAnswer& kept, const std::string& upstream);
  void forget(const std::string& upstream, const std::string& chat);
  // Done when the store has it, or cannot take it now.
  net::Task<> remember(net::Loop& loop, SessionTurn turn);
  // For who cannot wait.
  void remember_behind(SessionTurn turn);
  // An operator deleted that session.
  void forget_session(std::string_view session) { cache_.forget_session(session); }

 private:
  std::optional<Found> choose(const std::vector<store::SessionAnswer>& rows,
                              const ConversationIdentity& who, std::string_view session);
  // Nothing: go on without the store.
  std::optional<Error> after_failure(Error error);
  void write(const std::string& key, std::function<store::Attempt<void>(store::Sessions::Tables&)>);

  MemoryConversations& cache_;
  store::Sessions* store_ = nullptr;
  bool closed_ = false;
  std::atomic<std::uint64_t> failures_ = 0;
};

}  // namespace callgate::server
