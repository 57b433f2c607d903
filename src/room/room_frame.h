// One frame that subscribers of a room get, written once for all of them. Sample, as JSON:
//   {"type":"stream_chunk","seq":7,"stream":"stream_Ab1","delta":"Let me "}
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace callgate::server {

struct RoomFrame {
  // What sentences depend on.
  enum class Kind : std::uint8_t { stream_start, text, text_end, other };

  std::uint64_t seq = 0;  // 0: not part of the room's history
  Kind kind = Kind::other;
  std::string plain;  // a whole WebSocket frame
  std::size_t json_size = 0;
  std::string deflated;  // the same, deflated; empty if no subscriber wants it

  std::string_view json() const { return std::string_view(plain).substr(plain.size() - json_size); }
};
using RoomFramePtr = std::shared_ptr<const RoomFrame>;

}  // namespace callgate::server
