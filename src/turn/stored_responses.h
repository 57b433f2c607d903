// Responses that clients may ask for again and go on from: in the store, or in this process where there is none. Any thread; tasks
// on the loop that they are given.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "callgate/result.h"
#include "net/loop.h"
#include "net/task.h"
#include "store/sessions.h"

namespace callgate::server {

struct ResponseLimits {
  std::chrono::milliseconds ttl{30LL * 86'400'000};     // after it was written
  std::size_t unstored_bytes = std::size_t{256} << 20;  // without a store: of all responses
};

// Those of a gateway without a store. What was written first goes first. Any thread.
class UnstoredResponses {
 public:
  // `now` in Unix milliseconds.
  std::optional<store::StoredResponse> load(const store::ResponseName& name, std::int64_t now);
  std::optional<std::vector<store::ResponseLink>> chain(const store::ResponseName& name,
                                                        std::uint64_t most, std::int64_t now);
  void save(const store::ResponseName& name, const store::StoredResponse& response,
            const ResponseLimits& limits, std::int64_t now);
  bool erase(const store::ResponseName& name);

 private:
  struct Kept {
    store::ResponseName name;
    store::StoredResponse response;
    std::int64_t expires_at = 0;
  };
  using Place = std::list<Kept>::iterator;
  void drop(Place place);
  // The one that has not expired; nullptr: there is none.
  const Kept* find(const store::ResponseName& name, std::int64_t now);

  std::mutex mutex_;
  std::size_t bytes_ = 0;
  std::list<Kept> kept_;  // the one that was written last comes last
  std::map<store::ResponseName, Place> by_name_;
};

class StoredResponses {
 public:
  // Before the first request. nullptr: there is no store. REQUIRES: the sessions outlive the last use.
  void set_store(store::Sessions* sessions) { store_ = sessions; }
  void set_limits(const ResponseLimits& limits);
  // Names this process among those that share the store.
  std::string node() const { return store_ == nullptr ? std::string() : store_->node(); }

  // What is asked of one response is done in the order in which it was asked. Fails when the store does.
  net::Task<Result<std::optional<store::StoredResponse>>> load(net::Loop& loop,
                                                               store::ResponseName name);
  // The response and those before it, the oldest first; empty: it is not there. Nothing: together they have more than `most` bytes.
  net::Task<Result<std::optional<std::vector<store::ResponseLink>>>> chain(net::Loop& loop,
                                                                           store::ResponseName name,
                                                                           std::uint64_t most);
  // `held` goes when the response is written, which may be long after whoever asked has stopped waiting.
  net::Task<Result<bool>> save(net::Loop& loop, store::ResponseName name,
                               store::StoredResponse response, std::shared_ptr<const void> held);
  // One whose gateway died ends as `failed`, with `object`. False: it goes on or is over. REQUIRES: it does not run in this process.
  net::Task<Result<bool>> give_up(net::Loop& loop, store::ResponseName name, std::string object);
  // False when there is none.
  net::Task<Result<bool>> erase(net::Loop& loop, store::ResponseName name);

 private:
  ResponseLimits limits() const;

  store::Sessions* store_ = nullptr;
  UnstoredResponses unstored_;
  mutable std::mutex mutex_;
  ResponseLimits limits_;
};

}  // namespace callgate::server
