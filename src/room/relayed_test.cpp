// What one gateway says to another about a room, as JSON.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "room/room_relay.h"
#include "room/room_speaker.h"

namespace callgate::server::relayed_test {
namespace {

using Kind = RoomInput::Kind;

TEST(RelayedInput, arrives_as_it_was_written) {
  for (const Kind kind :
       {Kind::user_message, Kind::cancel, Kind::inject, Kind::approve, Kind::deny}) {
    RelayedInput sent;
    sent.input.kind = kind;
    sent.input.id = "m1";
    sent.input.text = "say \"hi\"";
    sent.input.run = 4'294'967'295;
    sent.input.body = R"({"messages":[]})";
    sent.peer = "127.0.0.1:9";
    const auto got = read_relayed(write_relayed(sent));
    ASSERT_TRUE(got) << got.error().message;
    EXPECT_EQ(got->input.kind, kind);
    EXPECT_EQ(got->input.id, sent.input.id);
    EXPECT_EQ(got->input.text, sent.input.text);
    EXPECT_EQ(got->input.run, sent.input.run);
    EXPECT_EQ(got->input.body, sent.input.body);
    EXPECT_EQ(got->peer, sent.peer);
  }
}

TEST(RelayedInput, is_refused_when_it_is_something_else) {
  for (const std::string_view text :
       {"", "[]", "7",
        R"({"kind":"cancel"})"
        "x",
        R"({"kind":"cancel")", "{}", R"({"kind":"jump"})", R"({"kind":7})",
        R"({"kind":"cancel","run":-1})", R"({"kind":"cancel","run":4294967296})",
        R"({"kind":"cancel","id":{}})"}) {
    const auto got = read_relayed(text);
    ASSERT_FALSE(got) << text;
    EXPECT_EQ(got.error().code, ErrorCode::invalid_request) << text;
  }
}

Rooms::Listed listed(std::string key, std::string name, std::size_t subscribers, bool owned) {
  Rooms::Listed room{.key = std::move(key), .name = std::move(name), .sight = {}, .owned = owned};
  room.sight.subscribers = subscribers;
  room.sight.messages = owned ? 7 : 0;
  return room;
}

TEST(ListedRooms, arrive_as_they_were_written_without_what_is_wrong) {
  Rooms::Listed room = listed("dev", "blue", 2, true);
  room.sight.queued = 3;
  room.sight.loop = "loop_1";
  room.sight.model = "m";
  const auto got = read_listed(write_listed({room, listed("dev", "red", 1, false)}));
  ASSERT_EQ(got.size(), 2u);
  EXPECT_EQ(got[0].key, "dev");
  EXPECT_EQ(got[0].name, "blue");
  EXPECT_TRUE(got[0].owned);
  EXPECT_EQ(got[0].sight.subscribers, 2u);
  EXPECT_EQ(got[0].sight.messages, 7u);
  EXPECT_EQ(got[0].sight.queued, 3u);
  EXPECT_EQ(got[0].sight.loop, "loop_1");
  EXPECT_EQ(got[0].sight.model, "m");
  EXPECT_FALSE(got[1].owned);
  EXPECT_EQ(write_listed({}), "[]");
  for (const std::string_view text : {"", "{}", "[7]", R"([{"id":"no name!"}])", "[] x"}) {
    EXPECT_TRUE(read_listed(text).empty()) << text;
  }
}

TEST(ListedRooms, are_merged_by_key_and_name_with_the_owners_word) {
  const auto all = merge_listed({listed("dev", "red", 1, false), listed("ann", "red", 5, true),
                                 listed("dev", "red", 2, true), listed("dev", "red", 4, false),
                                 listed("dev", "blue", 9, true)});
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].key, "ann");
  EXPECT_EQ(all[1].name, "blue");
  EXPECT_EQ(all[2].name, "red");
  EXPECT_TRUE(all[2].owned);
  EXPECT_EQ(all[2].sight.subscribers, 7u);
  EXPECT_EQ(all[2].sight.messages, 7u) << "the owner knows";
}

}  // namespace
}  // namespace callgate::server::relayed_test
