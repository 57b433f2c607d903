// Whether a turn may begin: maintenance, the store, the limits of the gateway and of its key.
#pragma once

#include <optional>

#include "access/limits.h"
#include "access/token_meter.h"
#include "callgate/result.h"
#include "net/http.h"
#include "net/task.h"
#include "turn/ask.h"
#include "turn/snapshot.h"
#include "turn/world.h"

namespace callgate::server {

// Why a page in a browser may not ask this, or why the body is not one to read, if so. Answered with `status`.
struct Objection {
  Error error;
  int status = 0;
};
enum class BodyType : std::uint8_t {
  json,  // the only one that is read
  any,   // of a request that is relayed
};
std::unique_ptr<Objection> object_to_page(const Ask& ask, BodyType body = BodyType::json);

// Finds the key of the request, as Access::authenticate() does, unless its address has tried too many wrong ones.
Result<void> admit_key(World& world, Ask& ask, std::string_view authorization,
                       std::string_view x_api_key);

// Whether the client's address may ask for another turn, with or without a key.
Result<void> admit_address(World& world, Ask& ask, net::Headers& headers);

// Whether turns are admitted now and the key has one left. Adds to the headers of the answer. `key` is nullptr on
// an open gateway.
Result<void> admit_turn(World& world, const Snapshot& snapshot, KeyState* key,
                        net::Headers& headers);

// Counts the tokens of a turn, if its key has limits on them: takes the estimate of the prompt from tokens_per_minute. Adds to
// the headers of the answer. nullptr: there is nothing to count.
struct TurnToAdmit {
  const std::shared_ptr<const Snapshot>& snapshot;
  const KeyRef& key;
  const ModelConfig& model;
  const Request& request;
};
Result<std::shared_ptr<TokenMeter>> admit_tokens(World& world, const TurnToAdmit& turn,
                                                 net::Headers& headers);

// The body of the request, within what `limits` allow of bodies on their way, with memory for what is made of it.
net::Task<Result<std::string_view>> read_body(World& world, Ask& ask);
// Reserves what is made of a body, about twice as much, until the request is answered. Fails where there is no memory for it.
Result<void> reserve_for(World& world, Ask& ask, std::size_t body);
// The same for a turn. Its body takes no place of a turn while it is on its way, since a slow sender would hold it; it is not read if
// there is no place anyway. REQUIRES: the caller takes the place afterwards.
net::Task<Result<std::string_view>> read_turn_body(World& world, Ask& ask);

// A request's body on its way: one of `limits.max_bodies`, and of as many as its key may have. Bodies that came with their
// heads, as most do, take no place.
class BodyPlace {
 public:
  BodyPlace(World& world, const Ask& ask);
  std::optional<Error> refusal() const;

 private:
  std::optional<ConcurrencySlot> place_;
  std::optional<ConcurrencySlot> key_place_;
};

// The places that a turn takes, of the gateway and of its key. Leaves them when it goes.
class TurnSlots {
 public:
  // `key` is nullptr on an open gateway, `address` where addresses have no limits.
  TurnSlots(World& world, KeyRef key, KeyRef address = nullptr);
  // Why the turn is refused; nullptr if it has its places.
  std::unique_ptr<Error> refusal() const;

 private:
  const KeyRef key_;  // goes after its places
  const KeyRef address_;
  ConcurrencySlot slot_;
  std::optional<ConcurrencySlot> key_slot_;
  std::optional<ConcurrencySlot> address_slot_;
};

}  // namespace callgate::server
