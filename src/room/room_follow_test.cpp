// A room that follows another gateway's, and takes it over.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "json/reader.h"
#include "room/room.h"
#include "room/room_cluster.h"
#include "room/room_heritage.h"
#include "room/rooms.h"
#include "turn/turn_job.h"

namespace callgate::server::room_follow_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class RoomFollowTest : public testing::Test {
 protected:
  RoomFollowTest() { follower_->take_seat(std::make_shared<RoomSeat>(loop_)); }

  std::shared_ptr<RoomSubscriber> join(Room& room, bool relay, bool sentences = false,
                                       std::optional<std::uint64_t> last_seq = {}) {
    auto subscriber = std::make_shared<RoomSubscriber>(loop_);
    subscriber->relay = relay;
    subscriber->sentences = sentences;
    EXPECT_TRUE(room.join(subscriber, last_seq));
    return subscriber;
  }
  static std::vector<std::string> take(Room& room, RoomSubscriber& subscriber) {
    std::vector<std::string> heard;
    for (const RoomFramePtr& frame : room.take(subscriber, SIZE_MAX).frames) {
      heard.emplace_back(frame->json());
    }
    return heard;
  }
  // What the owner has said goes to the follower.
  void relay() {
    for (const std::string& line : take(owner_, *link_))
      EXPECT_TRUE(follower_->follow(line)) << line;
  }
  void link() { link_ = join(owner_, true); }
  static RoomAsk ask(std::string id) {
    return {std::move(id), RawJson{"\"hi\""}, std::make_unique<LoopWork>()};
  }
  void begin(std::string stream, std::string reply_to) {
    owner_.begin_stream({.stream = std::move(stream),
                         .model = "m",
                         .loop = "l",
                         .request = "r",
                         .reply_to = std::move(reply_to)});
  }
  static store::RoomMessage message(std::string id, std::string stream, std::int64_t end_seq,
                                    std::string answer) {
    return {.id = std::move(id),
            .content = "\"hi\"",
            .body = {},
            .peer = {},
            .stream = std::move(stream),
            .end_seq = end_seq,
            .answer = std::move(answer)};
  }
  RoomHeritage heritage(std::vector<store::RoomMessage> messages) {
    store::RoomClaim claim;
    claim.mine = true;
    claim.first_seq = 10'000;
    claim.messages = std::move(messages);
    return inherit(std::move(claim));
  }

  net::Loop loop_;
  RoomCounters counters_;
  Room owner_{"a", {}, 100, counters_};
  std::shared_ptr<Room> follower_ = std::make_shared<Room>("a", RoomsConfig{}, 0, counters_);
  std::shared_ptr<RoomSubscriber> link_;
};

TEST_F(RoomFollowTest, is_ready_once_it_has_heard_its_owner) {
  EXPECT_FALSE(follower_->ready());
  link();
  relay();
  EXPECT_TRUE(follower_->ready());
  EXPECT_FALSE(follower_->owned());
  EXPECT_EQ(follower_->last_seq(), 100u);
}

TEST_F(RoomFollowTest, hands_on_the_frames_of_its_owner_as_they_are) {
  link();
  relay();
  const auto here = join(*follower_, false);
  const auto there = join(owner_, false);
  EXPECT_EQ(take(*follower_, *here), take(owner_, *there));
  (void)owner_.post(ask("m1"));
  (void)owner_.next();
  begin("s1", "m1");
  owner_.begin_thinking();
  owner_.add_thinking("hm");
  owner_.end_thinking();
  owner_.add_text("One is over. And");
  owner_.end_text();
  owner_.begin_call({.round = 1, .call_id = "c", .name = "f", .arguments = "{}"});
  relay();
  // Half way, somebody joins each of them.
  const auto late_here = join(*follower_, false);
  const auto late_there = join(owner_, false);
  EXPECT_EQ(take(*follower_, *late_here), take(owner_, *late_there));
  owner_.end_call({.round = 1, .call_id = "c", .name = "f", .preview = "ok"});
  owner_.add_text(" two.");
  owner_.end_stream({});
  relay();
  EXPECT_EQ(take(*follower_, *here), take(owner_, *there));
  const auto after_here = join(*follower_, false);
  const auto after_there = join(owner_, false);
  EXPECT_EQ(take(*follower_, *after_here), take(owner_, *after_there));
}

TEST_F(RoomFollowTest, makes_the_same_sentences_also_when_it_comes_in_the_middle) {
  (void)owner_.post(ask("m1"));
  (void)owner_.next();
  begin("s1", "m1");
  owner_.add_text("One is over. And");
  owner_.end_text();
  link();
  relay();
  const auto here = join(*follower_, false, true);
  const auto there = join(owner_, false, true);
  EXPECT_EQ(take(*follower_, *here), take(owner_, *there));
  owner_.add_text(" then. More");
  owner_.end_text();
  relay();
  EXPECT_EQ(take(*follower_, *here), take(owner_, *there));
}

TEST_F(RoomFollowTest, takes_nothing_twice_and_nothing_that_makes_no_sense) {
  link();
  relay();
  const auto here = join(*follower_, false);
  (void)take(*follower_, *here);
  const std::string said = R"({"type":"user_message","seq":101,"id":"m1","text":"hi","queued":0})";
  EXPECT_TRUE(follower_->follow(said));
  EXPECT_TRUE(follower_->follow(said));
  // A new owner says again what waits.
  EXPECT_TRUE(follower_->follow(R"({"type":"user_message","seq":150,"id":"m1","text":"hi"})"));
  EXPECT_THAT(take(*follower_, *here), ElementsAre(said));
  EXPECT_EQ(follower_->last_seq(), 150u);
  EXPECT_FALSE(follower_->follow("{"));
  EXPECT_FALSE(follower_->follow("[]"));
  EXPECT_FALSE(follower_->follow("{}"));
  EXPECT_THAT(take(*follower_, *here), IsEmpty());
}

TEST_F(RoomFollowTest, takes_over_without_a_word_where_nothing_was_lost) {
  link();
  (void)owner_.post(ask("m1"));
  (void)owner_.next();
  begin("s1", "m1");
  owner_.add_text("Hello.");
  owner_.end_stream({});  // 104
  relay();
  const auto here = join(*follower_, false);
  (void)take(*follower_, *here);
  follower_->own(heritage({message("m1", "s1", 104, "\"Hello.\"")}), nullptr);
  EXPECT_TRUE(follower_->owned());
  EXPECT_THAT(take(*follower_, *here), IsEmpty());
  // Who comes back from the owner that is gone gets exactly the rest.
  const auto back = join(*follower_, false, false, 103);
  const auto rest = take(*follower_, *back);
  ASSERT_EQ(rest.size(), 1u);
  EXPECT_THAT(rest[0], HasSubstr("stream_end"));
  EXPECT_EQ(follower_->conversation().size(), 2u);
}

TEST_F(RoomFollowTest, tells_that_the_running_turn_is_lost_under_a_number_above_all_others) {
  link();
  (void)owner_.post(ask("m1"));
  (void)owner_.next();
  begin("s1", "m1");
  owner_.add_text("Hel");
  relay();
  const auto here = join(*follower_, false);
  (void)take(*follower_, *here);
  follower_->own(heritage({message("m1", "s1", 0, "")}), nullptr);
  const auto heard = take(*follower_, *here);
  ASSERT_EQ(heard.size(), 1u);
  EXPECT_THAT(
      heard[0],
      HasSubstr(
          R"({"type":"stream_error","seq":10001,"stream":"s1","reply_to":"m1","kept":false,)"));
  EXPECT_THAT(heard[0], HasSubstr("turn_lost"));
  json::Reader frame(heard[0]);
  frame.skip();
  EXPECT_TRUE(frame.finish()) << heard[0];
  EXPECT_EQ(follower_->conversation().size(), 1u) << "what was said of it is forgotten";
}

TEST_F(RoomFollowTest, begins_anew_where_a_turn_ended_that_it_has_not_heard_of) {
  link();
  (void)owner_.post(ask("m1"));
  (void)owner_.next();
  begin("s1", "m1");
  owner_.add_text("Hel");  // 103
  relay();
  const auto here = join(*follower_, false);
  (void)take(*follower_, *here);
  follower_->own(heritage({message("m1", "s1", 110, "\"Hello.\"")}), nullptr);
  const auto heard = take(*follower_, *here);
  ASSERT_EQ(heard.size(), 1u);
  EXPECT_THAT(heard[0], HasSubstr(R"("type":"snapshot","seq":10000)"));
  EXPECT_THAT(heard[0], HasSubstr(R"({"role":"assistant","id":"s1","content":"Hello."})"));
  // Who has heard the end elsewhere has missed nothing.
  const auto back = join(*follower_, false, false, 110);
  EXPECT_THAT(take(*follower_, *back), IsEmpty());
  const auto behind = join(*follower_, false, false, 109);
  EXPECT_THAT(take(*follower_, *behind), ElementsAre(HasSubstr("snapshot")));
}

TEST_F(RoomFollowTest, gives_a_snapshot_of_an_empty_room_to_who_knew_one_that_was_forgotten) {
  follower_->own(heritage({}), nullptr);
  const auto back = join(*follower_, false, false, 110);
  EXPECT_THAT(take(*follower_, *back), ElementsAre(HasSubstr("snapshot")));
}

TEST_F(RoomFollowTest, announces_what_waited_only_to_those_who_have_not_heard_it) {
  link();
  relay();
  ASSERT_TRUE(follower_->follow(R"({"type":"user_message","seq":101,"id":"m1","text":"hi"})"));
  const auto here = join(*follower_, false);
  (void)take(*follower_, *here);
  follower_->own(heritage({}), nullptr);
  EXPECT_EQ(follower_->adopt(ask("m1")), Room::Place::first);
  EXPECT_EQ(follower_->adopt(ask("m2")), Room::Place::queued);
  EXPECT_THAT(take(*follower_, *here), ElementsAre(HasSubstr("\"id\":\"m2\"")));
}

TEST_F(RoomFollowTest, says_nothing_more_of_its_turn_once_another_gateway_owns_the_room) {
  const auto there = join(owner_, false);
  (void)owner_.post(ask("m1"));
  (void)owner_.next();
  begin("s1", "m1");
  (void)take(owner_, *there);
  EXPECT_EQ(owner_.disown(), "l");
  owner_.add_text("Hello.");
  owner_.end_text();
  owner_.end_stream({});
  EXPECT_THAT(take(owner_, *there), IsEmpty());
  EXPECT_EQ(owner_.post(ask("m2")), Room::Place::moved);
  EXPECT_TRUE(owner_.busy());
  EXPECT_FALSE(owner_.next());
  EXPECT_FALSE(owner_.busy());
}

TEST_F(RoomFollowTest, keeps_the_number_of_the_end_while_it_is_noted) {
  const auto there = join(owner_, false);
  (void)owner_.post(ask("m1"));
  (void)owner_.next();
  begin("s1", "m1");
  owner_.add_text("Hello.");
  (void)take(owner_, *there);
  const auto ending = owner_.begin_end();
  ASSERT_TRUE(ending);
  EXPECT_EQ(ending->answer, "\"Hello.\"");
  EXPECT_EQ(owner_.post(ask("m2")), Room::Place::queued);
  EXPECT_FALSE(owner_.inject("i", "hurry"));
  EXPECT_THAT(take(owner_, *there), IsEmpty());
  owner_.end_stream({});
  const auto heard = take(owner_, *there);
  ASSERT_EQ(heard.size(), 2u);
  EXPECT_THAT(heard[0], HasSubstr("\"stream_end\",\"seq\":" + std::to_string(ending->seq)));
  EXPECT_THAT(heard[1], HasSubstr("\"id\":\"m2\""));
}

TEST_F(RoomFollowTest, has_a_place_for_relays_also_when_it_is_full) {
  RoomsConfig limits;
  limits.max_subscribers = 1;
  Room room("a", limits, 100, counters_);
  (void)join(room, false);
  EXPECT_FALSE(room.join(std::make_shared<RoomSubscriber>(loop_), {}));
  (void)join(room, true);
}

TEST_F(RoomFollowTest, does_not_count_relays_as_subscribers) {
  link();
  const auto there = join(owner_, false);
  EXPECT_EQ(owner_.look().subscribers, 1u);
  EXPECT_EQ(counters_.subscribers.load(), 1);
  owner_.close_relays();
  EXPECT_EQ(owner_.state_of(*link_), RoomSubscriber::State::going_away);
  EXPECT_EQ(owner_.state_of(*there), RoomSubscriber::State::open);
}

}  // namespace
}  // namespace callgate::server::room_follow_test
