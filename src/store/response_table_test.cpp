#include "store/response_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/contract_testing.h"
#include "store/migration.h"
#include "store/node_table.h"

namespace callgate::store::response_table_test {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kKept{60'000};

class ResponseContract : public StoreContract {
 protected:
  ResponseContract() : database_(open_migrated(url(), {}).value()), table_(*database_) {}

  static StoredResponse response(const std::string& words, const std::string& previous = {}) {
    return {.previous = previous,
            .node = "n1",
            .status = "completed",
            .input = "{\"in\":\"" + words + "\"}",
            .output = "{\"out\":\"" + words + " \xC3\xA9\"}",
            .body = "{}",
            .events = std::string("event: x\n\0\n", 11)};
  }

  std::unique_ptr<Database> database_;
  ResponseTable table_;
};
CALLGATE_ON_BOTH_ENGINES(ResponseContract);

TEST_P(ResponseContract, keeps_a_response_for_its_key) {
  const ResponseName mine{"ann", "resp_1"};
  EXPECT_FALSE(table_.load(mine).value());
  ASSERT_TRUE(table_.save(mine, response("a"), kKept).value());
  EXPECT_EQ(table_.load(mine).value(), response("a"));
  EXPECT_FALSE(table_.load({"bob", "resp_1"}).value());
  EXPECT_FALSE(table_.erase({"bob", "resp_1"}).value());
  ASSERT_TRUE(table_.save(mine, response("b"), kKept).value());
  EXPECT_EQ(table_.load(mine).value(), response("b"));
  EXPECT_TRUE(table_.erase(mine).value());
  EXPECT_FALSE(table_.erase(mine).value());
  EXPECT_FALSE(table_.load(mine).value());
}

TEST_P(ResponseContract, gives_up_what_a_dead_node_ran_and_nothing_else) {
  NodeTable alive(*database_, "alive");
  ASSERT_TRUE(alive.beat(kKept));
  const auto save = [&](const std::string& id, std::string node, std::string status) {
    StoredResponse made = response(id);
    made.node = std::move(node);
    made.status = std::move(status);
    ASSERT_TRUE(table_.save({"ann", id}, made, kKept).value());
  };
  save("orphan", "dead", "in_progress");
  save("waiting", "dead", "queued");
  save("over", "dead", "completed");
  save("running", "alive", "in_progress");
  save("forgotten", "mine", "in_progress");
  const auto give_up = [&](const std::string& key, const std::string& id, milliseconds grace) {
    return table_.give_up({key, id}, "mine", "{\"failed\":1}", grace).value();
  };
  EXPECT_FALSE(give_up("ann", "orphan", kKept)) << "its node may not have been heard of yet";
  EXPECT_FALSE(give_up("bob", "orphan", milliseconds(0)));
  EXPECT_TRUE(give_up("ann", "orphan", milliseconds(0)));
  EXPECT_FALSE(give_up("ann", "orphan", milliseconds(0))) << "once";
  EXPECT_TRUE(give_up("ann", "waiting", milliseconds(0)));
  EXPECT_FALSE(give_up("ann", "over", milliseconds(0)));
  EXPECT_FALSE(give_up("ann", "running", milliseconds(0)));
  EXPECT_TRUE(give_up("ann", "forgotten", milliseconds(0)));
  const auto left = table_.load({"ann", "orphan"}).value();
  EXPECT_EQ(left->status, "failed");
  EXPECT_EQ(left->body, "{\"failed\":1}");
  EXPECT_EQ(left->input, response("orphan").input);

  // What its node says later comes too late.
  StoredResponse late = response("orphan");
  late.node = "dead";
  EXPECT_FALSE(table_.save({"ann", "orphan"}, late, kKept).value());
  EXPECT_EQ(table_.load({"ann", "orphan"}).value()->status, "failed");
}

TEST_P(ResponseContract, follows_a_chain_from_its_oldest_link) {
  ASSERT_TRUE(table_.save({"ann", "r1"}, response("one"), kKept));
  ASSERT_TRUE(table_.save({"ann", "r2"}, response("two", "r1"), kKept));
  ASSERT_TRUE(table_.save({"ann", "r3"}, response("three", "r2"), kKept));
  ASSERT_TRUE(table_.save({"bob", "r1"}, response("other"), kKept));
  const auto links = table_.chain({"ann", "r3"}).value();
  ASSERT_EQ(links.size(), 3u);
  EXPECT_EQ(links[0].input, response("one").input);
  EXPECT_EQ(links[0].previous, "");
  EXPECT_EQ(links[2].output, response("three").output);
  std::int64_t bytes = 0;
  for (const ResponseLink& link : links) {
    bytes += static_cast<std::int64_t>(link.input.size() + link.output.size());
  }
  EXPECT_EQ(table_.chain_bytes({"ann", "r3"}).value(), bytes);
  EXPECT_EQ(table_.chain_bytes({"bob", "r3"}).value(), 0);
  EXPECT_TRUE(table_.chain({"bob", "r3"}).value().empty());
  ASSERT_TRUE(table_.erase({"ann", "r1"}).value());
  const auto cut = table_.chain({"ann", "r3"}).value();
  ASSERT_EQ(cut.size(), 2u);
  EXPECT_EQ(cut[0].previous, "r1") << "what is missing is named";
}

TEST_P(ResponseContract, forgets_what_has_expired) {
  ASSERT_TRUE(table_.save({"ann", "r1"}, response("one"), milliseconds(-1)));
  ASSERT_TRUE(table_.save({"ann", "r2"}, response("two", "r1"), kKept));
  EXPECT_FALSE(table_.load({"ann", "r1"}).value());
  EXPECT_EQ(table_.chain({"ann", "r2"}).value().size(), 1u);
  EXPECT_EQ(table_.sweep(10).value(), 1);
  EXPECT_EQ(table_.sweep(10).value(), 0);
  EXPECT_TRUE(table_.load({"ann", "r2"}).value());
}

}  // namespace
}  // namespace callgate::store::response_table_test
