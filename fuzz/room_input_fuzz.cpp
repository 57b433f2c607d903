// What a subscriber says to its room. Oracle: a message that is accepted is a chat request that ends with it, or is refused as
// one with words; nothing in it gets out of its place.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "client/protocol.h"
#include "json/reader.h"
#include "room/room_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace callgate;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto input = server::read_room_input(text, {.model = "m", .conversation = "c"});
  if (!input) {
    CALLGATE_CHECK(!input.error().message.empty());
    return 0;
  }
  if (input->kind != server::RoomInput::Kind::user_message) return 0;
  json::Reader check(input->body);
  check.skip();
  CALLGATE_CHECK(check.finish());
  const auto request = client::find("openai_chat")->decode({.body = input->body});
  if (!request) {
    CALLGATE_CHECK(!server::as_room_error(request.error()).message.empty());
    return 0;
  }
  CALLGATE_CHECK(request->stream && request->choices == 1);
  CALLGATE_CHECK(!request->messages.empty() && request->messages.size() <= 2);
  CALLGATE_CHECK(request->messages.back().role == Role::user);
  return 0;
}
