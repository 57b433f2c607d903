#include <gtest/gtest.h>

#include "room/rooms.h"
#include "turn/turn_job.h"

namespace callgate::server::rooms_limits_test {
namespace {

TEST(RoomsLimits, say_which_one_was_reached) {
  net::Loop loop;
  Rooms rooms;
  RoomsConfig limits;
  limits.max_rooms = 1;
  limits.max_subscribers = 1;
  rooms.set_limits(limits);
  const auto subscriber = [&] { return std::make_shared<RoomSubscriber>(loop); };
  ASSERT_TRUE(rooms.join("", "a", subscriber(), {}));
  const auto crowded = rooms.join("", "a", subscriber(), {});
  ASSERT_FALSE(crowded);
  EXPECT_EQ(crowded.error().code, ErrorCode::rate_limited);
  EXPECT_EQ(crowded.error().message, "room \"a\" has too many subscribers");
  EXPECT_EQ(crowded.error().upstream_code, "too_many_subscribers");
  const auto many = rooms.join("", "b", subscriber(), {});
  ASSERT_FALSE(many);
  EXPECT_EQ(many.error().code, ErrorCode::rate_limited);
  EXPECT_EQ(many.error().message, "there are too many rooms");
  EXPECT_EQ(many.error().upstream_code, "too_many_rooms");
  EXPECT_EQ(rooms.count(), 1u);
}

TEST(RoomsLimits, forget_rooms_that_were_empty_for_long) {
  net::Loop loop;
  Rooms rooms;
  RoomsConfig limits;
  limits.idle_timeout = Milliseconds(0);
  rooms.set_limits(limits);
  const auto subscriber = std::make_shared<RoomSubscriber>(loop);
  const auto room = rooms.join("", "a", subscriber, {});
  ASSERT_TRUE(room);
  EXPECT_EQ(rooms.count(), 1u) << "somebody is there";
  (*room)->leave(*subscriber);
  EXPECT_EQ(rooms.count(), 0u);
}

TEST(RoomsLimits, send_everybody_away_at_the_end) {
  net::Loop loop;
  Rooms rooms;
  const auto subscriber = std::make_shared<RoomSubscriber>(loop);
  const auto room = rooms.join("", "a", subscriber, {});
  ASSERT_TRUE(room);
  EXPECT_EQ((*room)->state_of(*subscriber), RoomSubscriber::State::open);
  rooms.close_all();
  EXPECT_EQ((*room)->state_of(*subscriber), RoomSubscriber::State::going_away);
}

}  // namespace
}  // namespace callgate::server::rooms_limits_test
