// One WebSocket connection in a room. One task reads what the client says, another one writes what the room says.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "front/desk.h"
#include "front/routes.h"
#include "net/companion.h"
#include "net/websocket.h"
#include "room/room.h"
#include "room/room_input.h"
#include "room/room_voice.h"
#include "room/rooms.h"
#include "turn/turn_job.h"

namespace callgate::server {

// What the URL asks for: /v1/rooms/orders?model=gpt&last_seq=41&split=sentences
struct RoomJoin {
  std::string room;
  std::string model;
  std::string conversation;
  std::optional<std::uint64_t> last_seq;
  bool sentences = false;
};
Result<RoomJoin> read_room_join(std::string_view path, std::string_view query);

// A key among the offered subprotocols, as browsers can send it: `callgate, callgate-key.SECRET`. Empty if there is none.
std::string offered_key(const net::Headers& headers);

// GET /v1/rooms/{room}. REQUIRES: desk and rooms outlive the routes.
void add_room_routes(Routes& routes, const Desk& desk, Rooms& rooms);

class RoomSpeaker;

class RoomSocket {
 public:
  // REQUIRES: the request is a handshake; desk, rooms and ask outlive the socket.
  RoomSocket(const Desk& desk, Rooms& rooms, Ask& ask, RoomJoin join);
  ~RoomSocket();
  RoomSocket(const RoomSocket&) = delete;
  RoomSocket& operator=(const RoomSocket&) = delete;

  // Fails when the room has no place, or its owner cannot be found; nothing was answered then.
  net::Task<Result<void>> join();
  // Until either side has closed.
  net::Task<> run();

 private:
  net::Task<Result<std::shared_ptr<Room>>> join_shared();
  net::Task<> read_all();
  net::Task<> write_all();
  bool awaits_pong() const;
  net::Millis patience() const;
  // False: the client is dead.
  net::Task<bool> stay_in_touch();
  void on_wake();
  void say_goodbye(RoomSubscriber::State state);
  void take(const net::WebSocket::Message& message);
  Result<void> perform(RoomInput input);
  void tell_error(const Error& given, std::string_view reply_to);

  const Desk& desk_;
  Rooms& rooms_;
  const TurnHost host_;
  Ask& ask_;
  const RoomJoin join_;
  const RoomsConfig& limits_;
  const std::string key_name_;
  net::WebSocket socket_;
  std::shared_ptr<RoomSubscriber> subscriber_;
  std::shared_ptr<Room> room_;
  std::optional<RoomVoice> voice_;
  std::shared_ptr<RoomSpeaker> speaker_;  // once something was said in a room that gateways share
  net::Signal wake_;
  net::Signal written_;  // the writing task is done
  net::Deadline farewell_;
  std::optional<std::uint64_t> pinged_at_;  // of the loop's clock
  bool stopping_ = false;
};

}  // namespace callgate::server
