// Where the owner of a room notes its turns for the next owner. A turn ends for its subscribers when its end is noted, so none
// is lost or sent twice when the gateway dies. Any thread; the coroutines on the loop that they are given.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "net/loop.h"
#include "net/task.h"
#include "store/sessions.h"

namespace callgate::server {

class RoomBook {
 public:
  // REQUIRES: the store outlives the book. `keep`: messages of the room that are kept.
  RoomBook(store::Sessions& store, std::string room, std::string holder, std::int64_t keep);

  // These wait up to 30 s for a store that is away; then the room continues without it. False: another gateway owns the room.
  net::Task<bool> add(net::Loop& loop, store::RoomMessage message);
  net::Task<bool> begin(net::Loop& loop, std::string message, std::string stream);
  net::Task<bool> end(net::Loop& loop, std::string message, std::uint64_t seq, std::string answer);
  // The room is forgotten, and free for others.
  void forget();

  // Another gateway owns the room.
  bool lost() const { return lost_.load(); }
  void lose() { lost_ = true; }

 private:
  template <class Query>
  net::Task<bool> write(net::Loop& loop, Query query);

  store::Sessions& store_;
  const std::string room_;
  const std::string holder_;
  const std::int64_t keep_;
  std::atomic<bool> lost_ = false;
};

}  // namespace callgate::server
