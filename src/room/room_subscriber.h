// One connection that hears a room.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>

#include "net/loop.h"
#include "room/room_frame.h"

namespace callgate::server {

struct RoomSubscriber {
  explicit RoomSubscriber(net::Loop& own_loop) : loop(own_loop) {}

  net::Loop& loop;
  bool sentences = false;  // text comes as whole sentences
  bool deflates = false;
  bool relay = false;  // another gateway, which has subscribers of its own
  // Called on its loop when there is something to do. The connection empties it when it goes.
  std::function<void()> wake;

  // Whether it may go on.
  enum class State : std::uint8_t { open, too_slow, going_away };

  // The room's, under its lock.
  std::deque<RoomFramePtr> outbox;
  std::size_t outbox_bytes = 0;
  std::size_t joined_with = 0;  // bytes of the outbox that joining gave; they count for no backlog
  // When it last took something, or got something when nothing waited.
  std::chrono::steady_clock::time_point progress_at{};
  bool woken = false;
  State state = State::open;
};

}  // namespace callgate::server
