// Who has a room, and what the next owner finds.
#include "store/rooms/room_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>

#include "store/migration.h"
#include "store/node_table.h"
#include "store/postgres_testing.h"
#include "store/rooms/notices.h"

namespace callgate::store::room_table_test {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::IsEmpty;

struct Node {
  explicit Node(const std::string& url, const std::string& name)
      : database(open_migrated(url, {}).value()),
        nodes(*database, name),
        rooms(*database, name),
        address{.url = "http://" + name, .token = "word-" + name} {
    live(milliseconds(60'000));
  }
  void live(milliseconds ttl) { ASSERT_TRUE(nodes.beat(ttl, address)); }

  std::unique_ptr<Database> database;
  NodeTable nodes;
  RoomTable rooms;
  NodeAddress address;
};

class RoomTableTest : public testing::Test {
 protected:
  ~RoomTableTest() override { shared_postgres().give_back(url_); }

  const std::string url_ = shared_postgres().new_store();
  Node a_{url_, "a"};
  Node b_{url_, "b"};

  static RoomMessage message(std::string id) {
    return {.id = id,
            .content = "\"hi " + id + "\"",
            .body = "{}",
            .peer = "192.0.2.7",
            .stream = {},
            .end_seq = 0,
            .answer = {}};
  }
};

TEST_F(RoomTableTest, gives_a_room_to_one_node_and_its_address_to_the_other) {
  EXPECT_TRUE(a_.rooms.claim("room:x", "h1")->mine);
  const RoomClaim claim = b_.rooms.claim("room:x", "h2").value();
  EXPECT_FALSE(claim.mine);
  EXPECT_EQ(claim.owner.address, "http://a");
  EXPECT_EQ(claim.owner.token, "word-a");
  EXPECT_THAT(a_.rooms.held().value(), ElementsAre("room:x"));
  EXPECT_THAT(b_.rooms.held().value(), IsEmpty());
  ASSERT_EQ(b_.rooms.others()->size(), 1u);
}

TEST_F(RoomTableTest,
       lets_another_node_take_over_from_one_that_fell_silent_and_shuts_the_first_out) {
  ASSERT_TRUE(a_.rooms.claim("room:x", "h1")->mine);
  ASSERT_TRUE(a_.rooms.add("room:x", "h1", message("m1")).value());
  ASSERT_TRUE(a_.rooms.begin("room:x", "h1", "m1", "stream_1").value());
  RoomMessage ended = message("m1");
  ended.end_seq = 900;
  ended.answer = "\"hello\"";
  ASSERT_TRUE(a_.rooms.end("room:x", "h1", ended, 100).value());
  ASSERT_TRUE(a_.rooms.add("room:x", "h1", message("m2")).value());
  ASSERT_TRUE(a_.rooms.begin("room:x", "h1", "m2", "stream_2").value());
  ASSERT_TRUE(a_.rooms.add("room:x", "h1", message("m3")).value());
  EXPECT_FALSE(b_.rooms.claim("room:x", "h2")->mine);
  a_.live(milliseconds(900));  // nearly over is over
  const RoomClaim claim = b_.rooms.claim("room:x", "h2").value();
  ASSERT_TRUE(claim.mine);
  EXPECT_GT(claim.first_seq, 900);
  ASSERT_EQ(claim.messages.size(), 3u);
  EXPECT_EQ(claim.messages[0].answer, "\"hello\"");
  EXPECT_TRUE(claim.messages[1].runs());
  EXPECT_TRUE(claim.messages[2].waits());
  a_.live(milliseconds(60'000));
  EXPECT_FALSE(a_.rooms.add("room:x", "h1", message("m4")).value());
  EXPECT_FALSE(a_.rooms.end("room:x", "h1", ended, 100).value());
  EXPECT_FALSE(a_.rooms.begin("room:x", "h1", "m3", "stream_3").value());
  EXPECT_EQ(b_.rooms.claim("room:x", "h2")->messages.size(), 3u);
}

TEST_F(RoomTableTest, begins_above_every_number_that_was_used_also_with_a_clock_set_back) {
  ASSERT_TRUE(a_.rooms.claim("room:x", "h1")->mine);
  ASSERT_TRUE(a_.rooms.add("room:x", "h1", message("m1")).value());
  RoomMessage ended = message("m1");
  ended.end_seq = std::int64_t{1} << 60;
  ASSERT_TRUE(a_.rooms.end("room:x", "h1", ended, 100).value());
  EXPECT_GT(a_.rooms.claim("room:x", "h1")->first_seq, ended.end_seq);
}

TEST_F(RoomTableTest, adds_a_message_once_keeps_the_newest_and_forgets_all_with_the_room) {
  ASSERT_TRUE(a_.rooms.claim("room:x", "h1")->mine);
  for (const char* id : {"m1", "m2", "m3"}) {
    EXPECT_TRUE(a_.rooms.add("room:x", "h1", message(id)).value());
    EXPECT_TRUE(a_.rooms.add("room:x", "h1", message(id)).value());
    RoomMessage ended = message(id);
    ended.end_seq = 5;
    EXPECT_TRUE(a_.rooms.end("room:x", "h1", ended, 2).value());
  }
  const RoomClaim claim = a_.rooms.claim("room:x", "h1").value();
  ASSERT_EQ(claim.messages.size(), 2u);
  EXPECT_EQ(claim.messages[0].id, "m2");
  ASSERT_TRUE(a_.rooms.forget("room:x", "h1"));
  const RoomClaim after = b_.rooms.claim("room:x", "h2").value();
  EXPECT_TRUE(after.mine);
  EXPECT_THAT(after.messages, IsEmpty());
}

TEST_F(RoomTableTest, carries_words_between_nodes) {
  std::mutex mutex;
  std::vector<std::string> heard;
  const auto hears = [&](std::string_view word) {
    return eventually([&] {
      const std::lock_guard lock(mutex);
      return std::find(heard.begin(), heard.end(), word) != heard.end();
    });
  };
  Notices listener(url_, {}, "callgate_room", [&](std::string_view word) {
    const std::lock_guard lock(mutex);
    heard.emplace_back(word);
  });
  ASSERT_TRUE(hears(""));
  Notices speaker(url_, {}, "callgate_room", [](std::string_view) {});
  speaker.send("room:x");
  EXPECT_TRUE(hears("room:x"));
  // Words go on after the server has cut every connection.
  {
    const std::lock_guard lock(mutex);
    heard.clear();
  }
  ASSERT_TRUE(
      a_.database->query("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
                         "WHERE query LIKE '%callgate_room%' AND pid <> pg_backend_pid()"));
  ASSERT_TRUE(hears(""));
  EXPECT_TRUE(eventually([&] {
    speaker.send("room:y");
    const std::lock_guard lock(mutex);
    return std::find(heard.begin(), heard.end(), "room:y") != heard.end();
  }));
}

}  // namespace
}  // namespace callgate::store::room_table_test
