#include "room/room_heritage.h"

#include <algorithm>
#include <utility>

namespace callgate::server {

RoomHeritage inherit(store::RoomClaim claim) {
  RoomHeritage heritage;
  heritage.first_seq = static_cast<std::uint64_t>(claim.first_seq);
  for (store::RoomMessage& message : claim.messages) {
    if (message.waits()) {
      heritage.waiting.push_back(std::move(message));
      continue;
    }
    heritage.ended_seq = std::max(heritage.ended_seq, static_cast<std::uint64_t>(message.end_seq));
    heritage.said.push_back({true, message.id, std::move(message.content)});
    if (message.runs()) {
      heritage.broken = {message.id, message.stream, heritage.first_seq + 1};
    } else if (message.answer.size() > 2) {  // more than ""
      heritage.said.push_back({false, message.stream, std::move(message.answer)});
    }
  }
  return heritage;
}

}  // namespace callgate::server
