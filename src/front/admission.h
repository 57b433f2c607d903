// Whether a turn may begin: maintenance, the store, the limits of the gateway and of its key.
#pragma once

#include <optional>

#include "access/limits.h"
#include "callgate/result.h"
#include "net/http.h"
#include "turn/ask.h"
#include "turn/snapshot.h"
#include "turn/world.h"

namespace callgate::server {

// Whether the request comes from a page in a browser whose origin is not allowed. Such a page must not start tools or join
// rooms: its host name may have been pointed at this machine after it was loaded.
bool is_foreign_page(const Ask& ask);

// Whether a turn may begin at all, and whether the key has one left. Adds to the headers of the answer. `key` is nullptr on
// an open gateway.
Result<void> admit_turn(World& world, const Snapshot& snapshot, KeyState* key,
                        net::Headers& headers);

// The places that a turn takes, of the gateway and of its key. Leaves them when it goes.
class TurnSlots {
 public:
  // `key` is nullptr on an open gateway.
  TurnSlots(World& world, KeyState* key);
  // Why the turn is refused; nothing if it has its places.
  std::optional<Error> refusal() const;

 private:
  ConcurrencySlot slot_;
  std::optional<ConcurrencySlot> key_slot_;
};

}  // namespace callgate::server
