// The table of responses that clients may ask for again: each call is one statement on a connection that blocks.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "store/database.h"

namespace callgate::store {

// Whose response, and which.
struct ResponseName {
  std::string key_name;
  std::string id;

  auto operator<=>(const ResponseName&) const = default;
};

struct StoredResponse {
  std::string previous;  // the id of the response that it goes on from; empty: none
  std::string node;      // where it runs or ran
  std::string status;
  std::string input;   // its own input items, with commas between them
  std::string output;  // its output items, likewise
  std::string body;    // the response object
  std::string events;  // the event stream of one that ran in the background; empty: none

  std::size_t bytes() const {
    return input.size() + output.size() + body.size() + events.size() + previous.size();
  }
  bool operator==(const StoredResponse&) const = default;
};

// What was said in one response of a chain.
struct ResponseLink {
  std::string input;
  std::string output;
  std::string status;
  std::string previous;
};

// A longer chain is not followed.
inline constexpr std::int64_t kMaxChain = 1'000;

class ResponseTable {
 public:
  // REQUIRES: the database, which is migrated, outlives the table.
  explicit ResponseTable(Database& database);

  // nullopt if it does not exist or has expired.
  Attempt<std::optional<StoredResponse>> load(const ResponseName& name);
  // The response and those before it, the oldest first. Empty: it is not there.
  Attempt<std::vector<ResponseLink>> chain(const ResponseName& name);
  // What all of them said, in bytes.
  Attempt<std::int64_t> chain_bytes(const ResponseName& name);
  // Replaces what is there, unless that belongs to another node or was given up: then false. Safe to repeat.
  Attempt<bool> save(const ResponseName& name, const StoredResponse& response,
                     std::chrono::milliseconds keep);
  // A response that runs on a node which has died, or that `own_node` runs no more, ends as `failed` with this object. False: it
  // goes on, is over, or was begun less than `grace` ago, when its node may not have been heard of.
  Attempt<bool> give_up(const ResponseName& name, std::string_view own_node, std::string_view body,
                        std::chrono::milliseconds grace);
  // False if it does not exist.
  Attempt<bool> erase(const ResponseName& name);
  // Removes some of what has expired; gives how many. Fewer than `limit`: that was all.
  Attempt<std::int64_t> sweep(std::size_t limit);

 private:
  // With the engine's clock for {now}.
  std::string sql(std::string_view text) const;
  // `what` of all responses r of a chain c.
  Attempt<Rows> ask_chain(const ResponseName& name, std::string_view what, std::string_view order);

  Database& database_;
  std::string_view now_;
};

}  // namespace callgate::store
