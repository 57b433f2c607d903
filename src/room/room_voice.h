// What is said in a room that this gateway owns, by whichever gateway's subscriber.
#pragma once

#include <memory>
#include <string>

#include "front/desk.h"
#include "net/task.h"
#include "room/room.h"
#include "room/room_input.h"
#include "turn/turn_job.h"

namespace callgate::server {

// As Error::upstream_code: another gateway owns the room, and may be asked instead.
inline constexpr std::string_view kRoomMoved = "room_moved";
Error room_moved();

class RoomVoice {
 public:
  // REQUIRES: desk outlives the voice. `peer` is the speaker's address.
  RoomVoice(const Desk& desk, std::shared_ptr<Room> room, std::string key_name, std::string peer);

  // In a room that no other gateway follows.
  Result<void> say(RoomInput input);
  // In one that is noted for others.
  net::Task<Result<void>> say_noted(RoomInput input);
  // A turn that waited when its owner went.
  void adopt(const store::RoomMessage& message);

 private:
  // What a chat request needs, it needs too.
  Result<std::unique_ptr<LoopWork>> make_work(const std::string& body);
  Result<RoomAsk> make_ask(RoomInput& input);
  Result<void> post(RoomAsk ask);
  Result<void> steer(const RoomInput& input);

  const Desk& desk_;
  const TurnHost host_;
  const std::shared_ptr<Room> room_;
  const std::string key_name_;
  const std::string peer_;
};

}  // namespace callgate::server
