#include "room/room.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "json/reader.h"
#include "room/room_input.h"
#include "room/rooms.h"
#include "turn/turn_job.h"

namespace callgate::server::room_test {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kBefore = 100;

std::string member(std::string_view json, std::string_view name) {
  std::string value;
  json::Reader in(json);
  for (std::string_view key; in.next_member(key);) {
    const bool wanted = key == name;
    const std::string_view raw = in.raw();
    if (wanted) value = raw;
  }
  return value;
}

class RoomTest : public testing::Test {
 protected:
  std::shared_ptr<RoomSubscriber> join(std::optional<std::uint64_t> last_seq = {},
                                       bool sentences = false) {
    auto subscriber = std::make_shared<RoomSubscriber>(loop);
    subscriber->sentences = sentences;
    EXPECT_TRUE(room().join(subscriber, last_seq));
    return subscriber;
  }
  std::vector<std::string> read(RoomSubscriber& subscriber) {
    std::vector<std::string> frames;
    for (const RoomFramePtr& frame : room().take(subscriber, SIZE_MAX).frames) {
      frames.emplace_back(frame->json());
    }
    return frames;
  }
  Room& room() {
    if (!made_) made_.emplace("a", limits, kBefore, counters);
    return *made_;
  }
  // A turn with two calls, cut at odd places.
  void play() {
    room().begin_stream({.stream = "s1", .model = "m", .loop = "l", .request = "r"});
    for (const char* text : {"One is o", "ver. And ", "then two. Go"}) room().add_text(text);
    room().end_text();
    room().begin_call({.call_id = "c1", .name = "f", .arguments = "{}"});
    room().end_call({.call_id = "c1", .name = "f", .preview = "ok"});
    for (const char* text : {"od. It all ended well. Fin. ", "Really the end", "."}) {
      room().add_text(text);
    }
    room().end_text();
    room().end_stream({});
  }

  net::Loop loop;
  RoomsConfig limits;
  RoomCounters counters;

 private:
  std::optional<Room> made_;
};

TEST_F(RoomTest, gives_whoever_comes_back_exactly_the_rest) {
  for (const bool sentences : {false, true}) {
    const auto witness = join({}, sentences);
    const auto before = read(*witness);
    ASSERT_EQ(before.size(), 1u);
    const std::uint64_t start = std::stoull(member(before[0], "seq"));
    play();
    const auto all = read(*witness);
    const std::uint64_t last = std::stoull(member(all.back(), "seq"));
    for (std::uint64_t seq = start; seq <= last; ++seq) {
      std::vector<std::string> rest;
      for (const std::string& frame : all) {
        if (std::stoull(member(frame, "seq")) > seq) rest.push_back(frame);
      }
      const auto again = join(seq, sentences);
      EXPECT_EQ(read(*again), rest) << seq;
      room().leave(*again);
    }
    room().leave(*witness);
  }
  EXPECT_EQ(counters.subscribers.load(), 0);
}

TEST_F(RoomTest, gives_sentences_whole_and_lets_them_go_where_the_text_pauses) {
  const auto subscriber = join({}, true);
  play();
  std::vector<std::string> sentences;
  std::string types;
  for (const std::string& frame : read(*subscriber)) {
    const std::string found = member(frame, "sentences");
    types += member(frame, "type");
    if (!found.empty()) sentences.push_back(found);
  }
  EXPECT_THAT(sentences, testing::ElementsAre(R"(["One is over. "])", R"(["And then two. "])",
                                              R"(["Go"])", R"(["od. It all ended well. "])",
                                              R"(["Fin. Really the end."])"));
  EXPECT_THAT(types, HasSubstr(R"("stream_chunk""tool_call_start""tool_call_end")"));
}

TEST_F(RoomTest, shows_a_snapshot_when_what_was_missed_is_not_kept) {
  limits.history_frames = 4;
  const auto witness = join();
  play();
  for (const std::uint64_t seq : {std::uint64_t{0}, kBefore + 1, kBefore + 1000}) {
    const auto frames = read(*join(seq));
    ASSERT_EQ(frames.size(), 1u);
    EXPECT_EQ(member(frames[0], "type"), "\"snapshot\"");
    EXPECT_EQ(member(frames[0], "stream"), "null");
    EXPECT_THAT(member(frames[0], "messages"), HasSubstr("Really the end."));
  }
}

TEST_F(RoomTest, drops_only_the_subscriber_that_does_not_keep_up) {
  limits.backlog.count = 1000;
  limits.stall_timeout = Milliseconds(0);
  const auto slow = join();
  const auto quick = join();
  room().begin_stream({.stream = "s"});
  room().add_text(std::string(5000, 'x'));  // one frame of any length is no backlog
  EXPECT_EQ(room().state_of(*slow), RoomSubscriber::State::open);
  for (int i = 0; i < 40; ++i) {
    room().add_text("some text");
    EXPECT_FALSE(read(*quick).empty());
  }
  EXPECT_EQ(room().state_of(*slow), RoomSubscriber::State::too_slow);
  EXPECT_TRUE(read(*slow).empty());
  EXPECT_EQ(room().state_of(*quick), RoomSubscriber::State::open);
  EXPECT_EQ(counters.dropped.load(), 1u);
  // What a late one gets at once is no backlog either.
  const auto late = join();
  room().add_text("more");
  EXPECT_EQ(read(*late).size(), 2u);
}

TEST_F(RoomTest, a_burst_does_not_drop_a_subscriber_until_it_is_too_much_to_hold) {
  limits.backlog.count = 1000;
  limits.stall_timeout = Milliseconds(3'600'000);
  const auto busy = join();
  room().begin_stream({.stream = "s"});
  const std::string text(200, 'x');
  for (int i = 0; i < 50; ++i) room().add_text(text);
  EXPECT_EQ(room().state_of(*busy), RoomSubscriber::State::open);
  EXPECT_EQ(read(*busy).size(), 52u);
  for (int i = 0; i < 200; ++i) room().add_text(text);
  EXPECT_EQ(room().state_of(*busy), RoomSubscriber::State::too_slow);
}

TEST_F(RoomTest, keeps_the_conversation_bounded_and_beginning_with_a_user) {
  limits.max_messages = 3;
  for (int i = 0; i < 4; ++i) {
    const std::string id = std::to_string(i);
    EXPECT_EQ(room().post(RoomAsk(id, RawJson{"\"q\""}, nullptr)), Room::Place::first);
    ASSERT_TRUE(room().next());
    play();
    EXPECT_FALSE(room().next());
  }
  const auto messages = room().conversation();
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_EQ(messages[0].role, Role::user);
  EXPECT_EQ(messages[1].role, Role::assistant);
}

TEST_F(RoomTest, is_used_from_many_threads) {
  constexpr int kTurns = 20;
  std::atomic<bool> done{false};
  std::vector<std::thread> readers;
  Room& shared = room();
  for (int i = 0; i < 2; ++i) {
    readers.emplace_back([&, i] {
      std::uint64_t last = kBefore;
      bool ended = false;
      while (!ended) {
        ended = done.load();
        auto subscriber = std::make_shared<RoomSubscriber>(loop);
        subscriber->sentences = i == 1;
        EXPECT_TRUE(shared.join(subscriber, last));
        for (const RoomFramePtr& frame : shared.take(*subscriber, SIZE_MAX).frames) {
          EXPECT_TRUE(i == 1 ? frame->seq > last : frame->seq == last + 1);
          last = frame->seq;
        }
        shared.leave(*subscriber);
      }
      EXPECT_EQ(last, kBefore + kTurns * 12);
    });
  }
  for (int i = 0; i < kTurns; ++i) play();
  done = true;
  for (std::thread& reader : readers) reader.join();
}

TEST(Rooms, belong_to_a_key_and_the_emptiest_goes_first) {
  net::Loop loop;
  Rooms rooms;
  RoomsConfig limits;
  limits.max_rooms = 2;
  rooms.set_limits(limits);
  const auto subscriber = [&] { return std::make_shared<RoomSubscriber>(loop); };
  const auto mine = rooms.join("ann", "a", subscriber(), {});
  const auto other = rooms.join("bob", "a", subscriber(), {});
  ASSERT_TRUE(mine && other);
  EXPECT_NE(*mine, *other);
  EXPECT_EQ(*mine, *rooms.join("ann", "a", subscriber(), {}));
  EXPECT_FALSE(rooms.join("ann", "b", subscriber(), {}));
  EXPECT_EQ(rooms.count(), 2u);
  const auto last = subscriber();
  limits.max_rooms = 3;
  rooms.set_limits(limits);
  const auto empty = rooms.join("ann", "b", last, {});
  ASSERT_TRUE(empty);
  (*empty)->leave(*last);
  EXPECT_TRUE(rooms.join("ann", "c", subscriber(), {}));
  EXPECT_FALSE(rooms.join("ann", "d", subscriber(), {}));
}

TEST(Rooms, are_listed_with_what_happens_in_them) {
  net::Loop loop;
  Rooms rooms;
  const auto room = rooms.join("ann", "a", std::make_shared<RoomSubscriber>(loop), {});
  ASSERT_TRUE(room);
  (*room)->begin_stream({.stream = "s", .model = "m", .loop = "loop_1"});
  const auto listed = rooms.list();
  ASSERT_EQ(listed.size(), 1u);
  EXPECT_EQ(listed[0].key + "/" + listed[0].name, "ann/a");
  EXPECT_EQ(listed[0].sight.subscribers, 1u);
  EXPECT_EQ(listed[0].sight.loop, "loop_1");
  EXPECT_EQ(listed[0].sight.model, "m");
}

TEST(Rooms, have_plain_names) {
  for (const char* name : {"a", "room:1", "A.b-2_c"}) EXPECT_TRUE(is_room_name(name)) << name;
  for (const char* name : {"", "a b", "a/b", "a%", "\xC3\xA4"}) {
    EXPECT_FALSE(is_room_name(name)) << name;
  }
  EXPECT_TRUE(is_room_name(std::string(128, 'x')));
  EXPECT_FALSE(is_room_name(std::string(129, 'x')));
}

TEST(RoomInput, becomes_a_chat_request) {
  const auto input = read_room_input(
      R"({"type":"user_message","text":"Hi","id":"1","system":"Be brief.","tools":["a"],)"
      R"("callgate":{"max_calls":2},"temperature":1})",
      {.model = "m", .conversation = "c"});
  ASSERT_TRUE(input);
  EXPECT_EQ(input->body,
            R"({"model":"m","stream":true,"messages":[{"role":"system","content":"Be brief."},)"
            R"({"role":"user","content":"Hi"}],"callgate":{"loop":true,"show_tool_calls":true,)"
            R"("conversation":"c","tools":["a"],"max_calls":2},"temperature":1})");
  EXPECT_THAT(
      read_room_input(R"({"type":"user_message","text":"x","callgate":{ }})", {.model = "m"})->body,
      HasSubstr(R"("show_tool_calls":true}})"));
  const Error error =
      as_room_error({.message = "messages[1].content: a number", .param = "messages[1].content"});
  EXPECT_EQ(error.param, "content");
  EXPECT_EQ(error.message, "content: a number");
}

}  // namespace
}  // namespace callgate::server::room_test
