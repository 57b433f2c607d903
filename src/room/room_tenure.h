// Which gateway a room belongs to, as one gateway sees it: it asks the store, follows the owner or is the owner, and asks again
// when that ends. I/O-free: it says what to do next and receives the outcome.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <variant>

#include "net/loop.h"
#include "store/rooms/room_table.h"

namespace callgate::server {

class RoomTenure {
 public:
  struct Claim {  // ask the store, after a pause that a word of another gateway may end
    net::Millis after{0};
  };
  struct Follow {  // the owner, until it is gone
    store::RoomPeer owner;
  };
  struct Own {};  // until the lease is lost
  using Action = std::variant<Claim, Follow, Own>;

  static constexpr net::Millis kShortest{20};
  static constexpr net::Millis kLongest{250};

  static Action begin() { return Claim{}; }
  // nullptr: the store did not answer.
  Action on_claim(const store::RoomClaim* claim) {
    if (claim == nullptr || (!claim->mine && claim->owner.address.empty())) return wait();
    if (claim->mine) {
      pause_ = kShortest;
      return Own{};
    }
    return Follow{claim->owner};
  }
  // The owner is gone, or was never there; `heard`: it has said something, so that the pauses begin anew.
  Action on_link_ended(bool heard) {
    if (heard) pause_ = kShortest;
    return wait();
  }
  // Another gateway has it.
  static Action on_lost() { return Claim{}; }

 private:
  Action wait() {
    const Claim claim{pause_};
    pause_ = std::min(pause_ * 2, kLongest);
    return claim;
  }

  net::Millis pause_ = kShortest;
};

}  // namespace callgate::server
