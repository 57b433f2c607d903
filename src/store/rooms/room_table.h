// Rooms of gateways that share a PostgreSQL: which of them has a room, and what was said in it. Frames do not come here.
// The gateway that has the lease of a room writes, and every write checks the lease: one that has lost it changes nothing
// and is told. Each call is one transaction on a connection that blocks.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "store/database.h"

namespace callgate::store {

// A node that lives, as the others reach it.
struct RoomPeer {
  std::string node;
  std::string address;  // http://10.0.0.11:8080
  std::string token;    // opens its internal routes
};

// What a user said. It waits until it has a stream, and has its answer when it has an end.
struct RoomMessage {
  std::string id;
  std::string content;  // JSON
  std::string
      body;  // the request of its turn; empty: the turn has begun, or it is part of another's
  std::string peer;  // the client's address
  std::string stream;
  std::int64_t end_seq = 0;
  std::string answer;

  bool waits() const { return stream.empty() && !body.empty(); }
  bool runs() const { return !stream.empty() && end_seq == 0; }
};

struct RoomClaim {
  bool mine = false;
  // Mine: numbers of frames begin above this, and so above all that any owner has used.
  std::int64_t first_seq = 0;
  std::vector<RoomMessage> messages;
  // Otherwise its owner; without an address if the owner cannot be reached.
  RoomPeer owner;
};

class RoomTable {
 public:
  // REQUIRES: the database, which is migrated, outlives the table.
  RoomTable(Database& database, std::string node);

  // Takes the room if it has no owner, or if its owner was silent for nearly as long as a node may be.
  Attempt<RoomClaim> claim(std::string_view room, std::string_view holder);
  // The rooms that this node has.
  Attempt<std::vector<std::string>> held();
  Attempt<std::vector<RoomPeer>> others();

  // False: the room has another owner, and nothing was changed. Safe to repeat.
  Attempt<bool> add(std::string_view room, std::string_view holder, const RoomMessage& message);
  Attempt<bool> begin(std::string_view room, std::string_view holder, std::string_view id,
                      std::string_view stream);
  // Forgets all but the newest `keep` messages.
  Attempt<bool> end(std::string_view room, std::string_view holder, const RoomMessage& message,
                    std::int64_t keep);
  // Gives the room up and forgets what was said.
  Attempt<void> forget(std::string_view room, std::string_view holder);

  // What was said before that, in rooms without an owner.
  Attempt<void> sweep(std::chrono::milliseconds keep);

 private:
  Attempt<std::vector<RoomMessage>> load(std::string_view room);
  // Runs `change`, which uses $4 and up, where the lease holds.
  Attempt<bool> write(std::string_view change, std::span<const Value> values);
  std::string sql(std::string_view text) const;

  Database& database_;
  const std::string node_;
  const std::string_view now_;
};

}  // namespace callgate::store
