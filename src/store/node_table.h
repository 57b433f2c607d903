// What gateways that share a database tell each other: that they live, what each holds alone, and
// what each may use of a limit. Each call is one transaction on a connection that blocks.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/database.h"

namespace callgate::store {

// What a node has of a key's limits, and uses. 0 means no limit.
struct KeyUse {
  std::string key_name;
  std::int64_t per_minute = 0;  // requests of all nodes, with bursts up to it
  std::int64_t held = 0;        // what is left of the requests that this node may let in
  std::int64_t tokens_per_minute = 0;
  std::int64_t tokens_held = 0;  // likewise; less than 0: more were used than were given
  std::int64_t max_streams = 0;
  std::int64_t running = 0;
};

// Of a limit that refills with time.
struct RateShare {
  std::int64_t given = 0;
  std::int64_t left = 0;        // given to no node
  std::int64_t full_in_us = 0;  // until the whole burst is there again
};

// What it may use from now on.
struct KeyShare {
  std::int64_t requests = 0;    // instead of `held`
  std::int64_t left = 0;        // requests that no node was given
  std::int64_t full_in_us = 0;  // until the whole burst is there again
  std::int64_t streams = 0;     // at a time; never fewer than are running
  RateShare tokens;             // instead of `tokens_held`
};

// How other nodes reach this one; empty: they do not.
struct NodeAddress {
  std::string url;
  std::string token;  // opens its internal routes
};

class NodeTable {
 public:
  // REQUIRES: the database, which is migrated, outlives the table.
  NodeTable(Database& database, std::string node);

  // This node lives for another `ttl`. What it holds is held so long.
  Attempt<void> beat(std::chrono::milliseconds ttl, const NodeAddress& address = {});
  // This node is gone.
  Attempt<void> leave();
  // Nodes that live.
  Attempt<std::int64_t> count();

  // False when another node that lives holds it, or when this one does not live; of two holders on
  // one node the later one has it.
  Attempt<bool> take(std::string_view name, std::string_view holder);
  Attempt<void> release(std::string_view name, std::string_view holder);

  // What this node may use of the limits of each key. All in one transaction.
  // REQUIRES: sorted by key, so that nodes do not wait for each other in a circle.
  Attempt<std::vector<KeyShare>> share(std::span<const KeyUse> uses);

  // Forgets what nodes that died have left.
  Attempt<void> sweep();

 private:
  // `table` is rate_limit or token_limit.
  Attempt<RateShare> share_rate(std::string_view table, std::string_view key_name,
                                std::int64_t per_minute, std::int64_t held, std::int64_t nodes);
  Attempt<void> share_rates(const KeyUse& use, std::int64_t nodes, KeyShare& share);
  Attempt<void> share_streams(const KeyUse& use, std::int64_t nodes, KeyShare& share);
  std::string sql(std::string_view text) const;

  Database& database_;
  const std::string node_;
  const std::string_view now_;
};

}  // namespace callgate::store
