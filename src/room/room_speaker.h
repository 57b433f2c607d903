// What a subscriber says in a room that gateways share: to this gateway where it owns the room, to the owner otherwise, in the
// order in which it was said. A message that may not have arrived, since its owner died, is said again to the next one, which
// knows it by its id.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>

#include "front/desk.h"
#include "net/client.h"
#include "net/task.h"
#include "room/room.h"
#include "room/room_input.h"
#include "room/room_voice.h"

namespace callgate::server {

// {"type":"error","reply_to":"m1","error":{...}} of {"error":{...}}.
std::string room_error_frame(std::string_view body, std::string_view reply_to);

// What one gateway says to another, on behalf of a subscriber:
//   {"kind":"user_message","id":"m1","body":"{...}","peer":"192.0.2.7:5000"}   {"kind":"approve","run":3,...}
struct RelayedInput {
  RoomInput input;
  std::string peer;
};
std::string write_relayed(const RelayedInput& relayed);
Result<RelayedInput> read_relayed(std::string_view json);

class RoomSpeaker {
 public:
  // REQUIRES: desk outlives the speaker.
  RoomSpeaker(const Desk& desk, std::shared_ptr<Room> room,
              std::shared_ptr<RoomSubscriber> subscriber, std::string key_name, std::string peer);

  // Loop thread. Returns at once; later failures are sent to the subscriber. Fails if too much waits.
  Result<void> say(const std::shared_ptr<RoomSpeaker>& self, RoomInput input);

 private:
  static void start(const std::shared_ptr<RoomSpeaker>& self);
  static void break_off(const std::shared_ptr<RoomSpeaker>& self);
  static net::Task<> speak(std::shared_ptr<RoomSpeaker> self);
  net::Task<> deliver(RoomInput input);
  // The outcome: nullopt to try again, otherwise the body of an error, empty on success.
  net::Task<std::optional<std::string>> try_here(const RoomInput& input);
  net::Task<std::optional<std::string>> try_owner(const RoomInput& input);

  const Desk& desk_;
  const std::shared_ptr<Room> room_;
  const std::shared_ptr<RoomSubscriber> subscriber_;
  const std::string key_name_;
  const std::string peer_;
  RoomVoice voice_;
  net::HttpClient client_;
  std::deque<RoomInput> waiting_;
  bool speaking_ = false;
  std::string speaking_of_;  // the id of the message
};

}  // namespace callgate::server
