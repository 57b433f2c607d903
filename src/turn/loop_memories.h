// Conversations that tool loops remember: in the store, or in this process where there is none. Any thread; tasks on the
// loop that they are given.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "callgate/result.h"
#include "net/loop.h"
#include "net/task.h"
#include "store/sessions.h"

namespace callgate::server {

struct MemoryLimits {
  // 0: no limit.
  std::int64_t messages = 2'000;                        // of a conversation
  std::int64_t bytes = 16 << 20;                        // likewise
  std::chrono::milliseconds ttl{86'400'000};            // after its last use
  std::size_t unstored_bytes = std::size_t{256} << 20;  // without a store: of all conversations
};

// Those of a gateway without a store. What was not used for the longest time goes first. Any thread.
class UnstoredMemories {
 public:
  // `now` in Unix milliseconds.
  std::optional<store::Memory> load(const store::MemoryName& name, std::int64_t now);
  bool append(const store::MemoryName& name, const store::MemoryStep& step,
              const MemoryLimits& limits, std::int64_t now);
  bool erase(const store::MemoryName& name);
  std::vector<store::ListedMemory> list(const std::optional<std::string>& key_name,
                                        std::size_t limit, std::int64_t now);

 private:
  struct Kept {
    store::MemoryName name;
    store::Memory memory;
    std::size_t bytes = 0;
  };
  using Place = std::list<Kept>::iterator;
  void drop(Place place);
  // The one that has not expired.
  std::optional<Place> find(const store::MemoryName& name, std::int64_t now);

  std::mutex mutex_;
  std::size_t bytes_ = 0;
  std::list<Kept> kept_;  // the one that was written last comes last
  std::map<store::MemoryName, Place> by_name_;
};

class LoopMemories {
 public:
  // Before the first request. nullptr: there is no store. REQUIRES: the sessions outlive the last use.
  void set_store(store::Sessions* sessions) { store_ = sessions; }
  void set_limits(const MemoryLimits& limits);
  MemoryLimits limits() const;

  // What is asked of one conversation is done in the order in which it was asked. Fails when the store does.
  net::Task<Result<std::optional<store::Memory>>> load(net::Loop& loop, store::MemoryName name);
  // False, and nothing is changed, when the conversation has gone on since `step.after`.
  net::Task<Result<bool>> append(net::Loop& loop, store::MemoryName name, store::MemoryStep step);
  // The latest used first; of all keys without `key_name`.
  net::Task<Result<std::vector<store::ListedMemory>>> list(net::Loop& loop,
                                                           std::optional<std::string> key_name,
                                                           std::size_t limit);
  // False when there is none.
  net::Task<Result<bool>> forget(net::Loop& loop, store::MemoryName name);

 private:
  store::Sessions* store_ = nullptr;
  UnstoredMemories unstored_;
  mutable std::mutex mutex_;
  MemoryLimits limits_;
};

// The name under which a request holds the conversation, and under which the store is asked.
std::string claim_name(const store::MemoryName& name);

}  // namespace callgate::server
