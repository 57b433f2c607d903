// What a subscriber says to its room.
//
//   {"type": "user_message", "text": "Where is ORD-42?", "id": "m1", "model": "gpt", "callgate": {"max_calls": 3}}
//   {"type": "inject", "text": "Hurry up."}   {"type": "cancel"}   {"type": "approve", "run": 3}   {"type": "deny", "run": 3}
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "callgate/loop.h"
#include "callgate/result.h"

namespace callgate::server {

struct RoomInput {
  enum class Kind : std::uint8_t { user_message, cancel, inject, approve, deny };
  Kind kind = Kind::user_message;
  std::string id;       // user_message, inject: as the client names it, may be empty
  std::string text;     // inject; deny: the reason, may be empty
  loop::RunId run = 0;  // approve, deny
  std::string body;     // user_message: a Chat Completions request without what was said before
};

// For messages that name none; may be empty.
struct RoomDefaults {
  std::string_view model;
  std::string_view conversation;
};
// Errors name the member that is wrong.
Result<RoomInput> read_room_input(std::string_view json, const RoomDefaults& defaults);

// An error of that request, as the member of the frame that it comes from.
Error as_room_error(Error error);

}  // namespace callgate::server
