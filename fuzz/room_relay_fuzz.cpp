// What gateways that share rooms say to each other, one frame per line. Oracle: whatever came, the room gives valid frames whose
// numbers grow, and a gateway that follows this one from its snapshot makes the same room; what is said for a subscriber is
// read as it was written.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/check.h"
#include "json/reader.h"
#include "room/room.h"
#include "room/room_cluster.h"
#include "room/room_relay.h"
#include "room/room_speaker.h"

namespace {

using namespace callgate;
using namespace callgate::server;

struct Follower {
  explicit Follower(net::Loop& loop) : room("a", {}, 0, counters) {
    room.take_seat(std::make_shared<RoomSeat>(loop));
  }
  RoomCounters counters;
  Room room;
};

std::string snapshot_of(Room& room, net::Loop& loop, bool relay) {
  const auto subscriber = std::make_shared<RoomSubscriber>(loop);
  subscriber->relay = relay;
  CALLGATE_CHECK(room.join(subscriber, std::nullopt));
  const Room::Mail mail = room.take(*subscriber, SIZE_MAX);
  room.leave(*subscriber);
  CALLGATE_CHECK(mail.frames.size() == 1);
  std::string json(mail.frames[0]->json());
  json::Reader check(json);
  check.skip();
  CALLGATE_CHECK(check.finish());
  return json;
}

void check_lines(std::string_view text) {
  net::Loop loop;
  Follower first(loop);
  std::uint64_t last = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    (void)first.room.follow(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    CALLGATE_CHECK(first.room.last_seq() >= last);
    last = first.room.last_seq();
  }
  Follower second(loop);
  CALLGATE_CHECK(second.room.follow(snapshot_of(first.room, loop, true)));
  CALLGATE_CHECK(snapshot_of(second.room, loop, false) == snapshot_of(first.room, loop, false));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_lines(text);
  (void)merge_listed(read_listed(text));
  const auto relayed = read_relayed(text);
  if (!relayed) return 0;
  const auto again = read_relayed(write_relayed(*relayed));
  CALLGATE_CHECK(again && again->input.body == relayed->input.body && again->peer == relayed->peer);
  return 0;
}
