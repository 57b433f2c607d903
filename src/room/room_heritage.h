// What the next owner of a room finds of the one before it, and what follows from that. I/O-free.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "store/rooms/room_table.h"

namespace callgate::server {

struct RoomHeritage {
  struct Line {
    bool by_user = true;
    std::string id;       // of the message, or the stream that answered it
    std::string content;  // JSON
  };
  // A turn that its gateway took along. Nobody knows what its tools have done, so it is not run again.
  struct Broken {
    std::string message;
    std::string stream;
    std::uint64_t seq = 0;  // of the frame that says so
  };
  std::uint64_t first_seq = 0;  // frames are numbered above it
  std::uint64_t ended_seq = 0;  // of the last turn that ended; 0: none has
  std::vector<Line> said;
  std::optional<Broken> broken;
  std::vector<store::RoomMessage> waiting;  // turns that have not begun: they are run now

  // Whether a subscriber with all frames up to `seq` has every turn that ended.
  bool is_complete(std::uint64_t seq) const { return seq != 0 && seq >= ended_seq; }
};

// REQUIRES: the claim is this gateway's own.
RoomHeritage inherit(store::RoomClaim claim);

}  // namespace callgate::server
