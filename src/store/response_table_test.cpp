#include "store/response_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/contract_testing.h"
#include "store/migration.h"

namespace callgate::store {
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
}  // namespace callgate::store
