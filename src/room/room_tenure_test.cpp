#include "room/room_tenure.h"

#include <gtest/gtest.h>

#include "room/room_heritage.h"

namespace callgate::server::room_tenure_test {
namespace {

store::RoomClaim owned_by(std::string address) {
  store::RoomClaim claim;
  claim.owner = {.node = "n", .address = std::move(address), .token = "t"};
  return claim;
}

store::RoomClaim mine(std::vector<store::RoomMessage> messages = {}) {
  store::RoomClaim claim;
  claim.mine = true;
  claim.first_seq = 5'000;
  claim.messages = std::move(messages);
  return claim;
}

net::Millis pause_of(const RoomTenure::Action& action) {
  return std::get<RoomTenure::Claim>(action).after;
}

TEST(RoomTenure, asks_at_once_then_owns_or_follows) {
  RoomTenure tenure;
  EXPECT_EQ(pause_of(RoomTenure::begin()), net::Millis(0));
  const store::RoomClaim own = mine();
  EXPECT_TRUE(std::holds_alternative<RoomTenure::Own>(tenure.on_claim(&own)));
  const store::RoomClaim other = owned_by("http://a");
  const auto action = tenure.on_claim(&other);
  EXPECT_EQ(std::get<RoomTenure::Follow>(action).owner.address, "http://a");
}

TEST(RoomTenure, waits_ever_longer_for_an_owner_that_cannot_be_reached_but_never_long) {
  RoomTenure tenure;
  net::Millis before{0};
  for (int i = 0; i < 10; ++i) {
    const net::Millis pause = pause_of(tenure.on_link_ended(false));
    EXPECT_GE(pause, before);
    EXPECT_LE(pause, RoomTenure::kLongest);
    before = pause;
  }
  EXPECT_EQ(before, RoomTenure::kLongest);
  EXPECT_EQ(pause_of(tenure.on_link_ended(true)), RoomTenure::kShortest);
}

TEST(RoomTenure, waits_for_a_store_that_is_away_and_for_an_owner_without_an_address) {
  RoomTenure tenure;
  EXPECT_EQ(pause_of(tenure.on_claim(nullptr)), RoomTenure::kShortest);
  const store::RoomClaim nobody = owned_by("");
  EXPECT_GT(pause_of(tenure.on_claim(&nobody)), RoomTenure::kShortest);
}

TEST(RoomTenure, asks_at_once_after_it_lost_the_room) {
  EXPECT_EQ(pause_of(RoomTenure::on_lost()), net::Millis(0));
}

TEST(RoomHeritage, keeps_what_ended_breaks_what_ran_and_runs_what_waited) {
  store::RoomMessage ended{.id = "m1",
                           .content = "\"a\"",
                           .body = {},
                           .peer = {},
                           .stream = "s1",
                           .end_seq = 90,
                           .answer = "\"b\""};
  store::RoomMessage silent{.id = "m2",
                            .content = "\"c\"",
                            .body = {},
                            .peer = {},
                            .stream = "s2",
                            .end_seq = 95,
                            .answer = "\"\""};
  store::RoomMessage running{.id = "m3",
                             .content = "\"d\"",
                             .body = {},
                             .peer = {},
                             .stream = "s3",
                             .end_seq = 0,
                             .answer = {}};
  store::RoomMessage waiting{.id = "m4",
                             .content = "\"e\"",
                             .body = "{}",
                             .peer = "p",
                             .stream = {},
                             .end_seq = 0,
                             .answer = {}};
  const RoomHeritage heritage = inherit(mine({ended, silent, running, waiting}));
  EXPECT_EQ(heritage.first_seq, 5'000u);
  EXPECT_EQ(heritage.ended_seq, 95u);
  ASSERT_EQ(heritage.said.size(), 4u);
  EXPECT_EQ(heritage.said[1].id, "s1");
  EXPECT_FALSE(heritage.said[1].by_user);
  EXPECT_EQ(heritage.said[3].id, "m3");
  ASSERT_TRUE(heritage.broken);
  EXPECT_EQ(heritage.broken->stream, "s3");
  EXPECT_EQ(heritage.broken->seq, 5'001u);
  ASSERT_EQ(heritage.waiting.size(), 1u);
  EXPECT_EQ(heritage.waiting[0].id, "m4");
}

TEST(RoomHeritage, is_complete_for_who_has_heard_the_last_end) {
  store::RoomMessage ended{.id = "m1",
                           .content = "\"a\"",
                           .body = {},
                           .peer = {},
                           .stream = "s1",
                           .end_seq = 90,
                           .answer = "\"b\""};
  const RoomHeritage heritage = inherit(mine({ended}));
  EXPECT_FALSE(heritage.is_complete(0));
  EXPECT_FALSE(heritage.is_complete(89));
  EXPECT_TRUE(heritage.is_complete(90));
  EXPECT_TRUE(heritage.is_complete(200));
  EXPECT_FALSE(inherit(mine()).is_complete(0));
}

}  // namespace
}  // namespace callgate::server::room_tenure_test
