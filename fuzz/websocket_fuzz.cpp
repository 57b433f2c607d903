// WebSocket frames are read the same however their bytes are cut; texts are UTF-8 and nothing is longer than its limit.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/utf8.h"
#include "net/websocket_codec.h"

namespace callgate::net {
namespace {

constexpr WebSocketLimits kLimits{.frame = 256, .message = 512};

std::string read(std::string_view bytes, std::size_t step, bool deflate) {
  WebSocketReader reader(kLimits, deflate);
  std::string log;
  while (!bytes.empty()) {
    const std::string piece(bytes.substr(0, step));
    bytes.remove_prefix(piece.size());
    reader.push(piece, [&](const WebSocketMessage& message) {
      CALLGATE_CHECK(message.payload.size() <= kLimits.message);
      if (message.opcode == Opcode::text) CALLGATE_CHECK(utf8::is_valid(message.payload));
      log += std::to_string(static_cast<int>(message.opcode)) + ":" +
             std::to_string(message.close_code) + ":" + std::string(message.payload) + "\n";
    });
  }
  if (reader.fault()) log += "fault";
  return log;
}

}  // namespace
}  // namespace callgate::net

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const bool deflate : {false, true}) {
    const std::string whole = callgate::net::read(bytes, size + 1, deflate);
    CALLGATE_CHECK(callgate::net::read(bytes, 1, deflate) == whole);
    CALLGATE_CHECK(callgate::net::read(bytes, 5, deflate) == whole);
  }
  return 0;
}
