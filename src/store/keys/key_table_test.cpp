#include "store/keys/key_table.h"

#include <gtest/gtest.h>

#include "store/contract_testing.h"
#include "store/migration.h"

namespace callgate::store::key_table_test {
namespace {

class KeyContract : public StoreContract {
 protected:
  KeyContract() : database_(open_migrated(url(), {}).value()), table_(*database_) {}

  static StoredKey key(const std::string& name, const std::string& hash) {
    StoredKey key;
    key.name = name;
    key.owner = "Ann \xC3\x89";
    key.secret_hash = hash;
    key.models = {"small-*", "a\"b"};
    key.deny_tools = {"shell"};
    key.admin = true;
    key.expires_at = 9'000'000'000'000;
    key.tokens_per_day = 10'000;
    key.cost_per_month = 12'500'000'000;
    return key;
  }

  std::unique_ptr<Database> database_;
  KeyTable table_;
};
CALLGATE_ON_BOTH_ENGINES(KeyContract);

TEST_P(KeyContract, keeps_what_a_key_may_do) {
  EXPECT_FALSE(table_.get("dev").value());
  ASSERT_TRUE(table_.add(key("dev", "h1")).value());
  StoredKey stored = table_.get("dev").value().value();
  EXPECT_GT(stored.created_at, 0);
  stored.created_at = 0;
  EXPECT_EQ(stored, key("dev", "h1"));
}

TEST_P(KeyContract, refuses_a_name_and_a_secret_that_are_taken) {
  ASSERT_TRUE(table_.add(key("dev", "h1")).value());
  EXPECT_FALSE(table_.add(key("dev", "h2")).value());
  EXPECT_FALSE(table_.add(key("other", "h1")).value());
  EXPECT_EQ(table_.list()->size(), 1u);
}

TEST_P(KeyContract, rotates_and_keeps_the_former_secret_for_a_while) {
  ASSERT_TRUE(table_.add(key("dev", "h1")).value());
  ASSERT_TRUE(table_.rotate("dev", "h2", 60'000).value());
  const StoredKey rotated = table_.get("dev").value().value();
  EXPECT_EQ(rotated.secret_hash, "h2");
  EXPECT_EQ(rotated.former_hash, "h1");
  EXPECT_EQ(rotated.former_until, rotated.rotated_at + 60'000);
  EXPECT_FALSE(table_.rotate("nobody", "h3", 0).value());
}

TEST_P(KeyContract, revokes_for_good) {
  ASSERT_TRUE(table_.add(key("dev", "h1")).value());
  ASSERT_TRUE(table_.revoke("dev").value());
  const std::int64_t when = table_.get("dev").value()->revoked_at;
  EXPECT_GT(when, 0);
  EXPECT_TRUE(table_.revoke("dev").value());
  EXPECT_EQ(table_.get("dev").value()->revoked_at, when);
  EXPECT_FALSE(table_.rotate("dev", "h2", 0).value());
  EXPECT_FALSE(table_.add(key("dev", "h2")).value()) << "the log speaks of it by its name";
  EXPECT_FALSE(table_.revoke("nobody").value());
}

TEST_P(KeyContract, says_that_something_changed) {
  std::int64_t before = table_.version().value();
  const auto changed = [&] {
    const std::int64_t now = table_.version().value();
    return std::exchange(before, now) != now;
  };
  ASSERT_TRUE(table_.add(key("dev", "h1")).value());
  EXPECT_TRUE(changed());
  ASSERT_TRUE(table_.rotate("dev", "h2", 0).value());
  EXPECT_TRUE(changed());
  ASSERT_TRUE(table_.revoke("dev").value());
  EXPECT_TRUE(changed());
  EXPECT_FALSE(changed());
}

}  // namespace
}  // namespace callgate::store::key_table_test
