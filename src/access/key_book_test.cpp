#include "access/key_book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "access/key_secret.h"
#include "store/migration.h"
#include "store/scratch_testing.h"

namespace callgate::server::key_book_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::int64_t kNow = 1'800'000'000'000;

class KeyBookTest : public testing::Test {
 protected:
  void add(const std::string& name, const std::string& secret, std::int64_t expires_at = 0,
           std::int64_t per_minute = 0) {
    store::StoredKey key;
    key.name = name;
    key.secret_hash = hash_of_secret(secret);
    key.expires_at = expires_at;
    key.requests_per_minute = per_minute;
    ASSERT_TRUE(table_.add(key).value());
  }
  std::string who(std::string_view secret, std::int64_t now = kNow) {
    const auto found = book_.find(secret, now);
    return found ? (*found)->config.name : found.error().message;
  }

  store::ScratchFolder scratch_;
  std::unique_ptr<store::Database> database_ = store::open_migrated(scratch_.url(), {}).value();
  store::KeyTable table_{*database_};
  std::vector<std::string> warnings_;
  KeyBook book_{[this](std::string_view what) { warnings_.emplace_back(what); }};
};

TEST_F(KeyBookTest, knows_nobody_before_it_was_read) {
  EXPECT_EQ(book_.find("cg-1", kNow).error().code, ErrorCode::unavailable);
  ASSERT_TRUE(book_.refresh(table_));
  EXPECT_EQ(book_.find("cg-1", kNow).error().code, ErrorCode::unauthenticated);
}

TEST_F(KeyBookTest, finds_a_key_until_it_is_revoked_or_expires) {
  add("ann", "cg-1");
  add("bob", "cg-2", kNow + 10);
  ASSERT_TRUE(book_.refresh(table_));
  EXPECT_EQ(who("cg-1"), "ann");
  EXPECT_EQ(who("cg-2"), "bob");
  EXPECT_EQ(who("cg-2", kNow + 10), "this API key has expired");
  EXPECT_EQ(who("cg-"), "this API key is not known");
  EXPECT_EQ((*book_.find_by_name("ann", kNow))->config.name, "ann");
  ASSERT_TRUE(table_.revoke("ann").value());
  EXPECT_EQ(who("cg-1"), "ann") << "until the next look";
  ASSERT_TRUE(book_.refresh(table_));
  EXPECT_EQ(who("cg-1"), "this API key was revoked");
  EXPECT_FALSE(book_.find_by_name("ann", kNow));
}

TEST_F(KeyBookTest, takes_the_former_secret_for_a_while) {
  add("ann", "cg-1");
  ASSERT_TRUE(table_.rotate("ann", hash_of_secret("cg-2"), 60'000).value());
  ASSERT_TRUE(book_.refresh(table_));
  const std::int64_t until = table_.get("ann").value()->former_until;
  EXPECT_EQ(who("cg-2", until), "ann");
  EXPECT_EQ(who("cg-1", until - 1), "ann");
  EXPECT_EQ(who("cg-1", until), "this API key is not known");
}

TEST_F(KeyBookTest, keeps_the_counters_of_a_key_that_did_not_change) {
  add("ann", "cg-1", 0, 1);
  ASSERT_TRUE(book_.refresh(table_));
  EXPECT_TRUE((*book_.find("cg-1", kNow))->rate.take(std::chrono::seconds(5)).allowed);
  add("bob", "cg-2");
  ASSERT_TRUE(book_.refresh(table_));
  EXPECT_FALSE((*book_.find("cg-1", kNow))->rate.take(std::chrono::seconds(5)).allowed);
}

TEST_F(KeyBookTest, leaves_names_and_secrets_of_the_file_to_the_file) {
  add("ann", "cg-1");
  add("bob", "cg-2");
  add("cid", "cg-3");
  KeyConfig same_name;
  same_name.name = "ann";
  same_name.secret = Secret("other");
  KeyConfig same_secret;
  same_secret.name = "file";
  same_secret.secret = Secret("cg-2");
  book_.set_file_keys({same_name, same_secret});
  ASSERT_TRUE(book_.refresh(table_));
  EXPECT_FALSE(book_.find("cg-1", kNow));
  EXPECT_FALSE(book_.find("cg-2", kNow));
  EXPECT_EQ(who("cg-3"), "cid");
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("same name"), HasSubstr("same secret")));
  book_.set_file_keys({});
  ASSERT_TRUE(book_.refresh(table_));
  EXPECT_EQ(who("cg-1"), "ann");
}

TEST(KeySecret, has_256_bits_and_is_never_the_same) {
  const Secret one = make_key_secret();
  const Secret two = make_key_secret();
  EXPECT_EQ(one.reveal().size(), 46u);
  EXPECT_TRUE(one.reveal().starts_with("cg-"));
  EXPECT_NE(one.reveal(), two.reveal());
  EXPECT_EQ(hash_of_secret("abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Access, asks_for_a_key_of_the_store_where_the_file_has_none) {
  const KeyBook book;
  EXPECT_TRUE(Access({}, nullptr, {.book = &book}).open());
  const Access closed({}, nullptr, {.book = &book, .required = true});
  EXPECT_FALSE(closed.open());
  EXPECT_EQ(closed.authenticate("", "").error().code, ErrorCode::unauthenticated);
  EXPECT_EQ(closed.authenticate("Bearer x", "").error().code, ErrorCode::unavailable);
  EXPECT_FALSE(closed.find(""));
}

}  // namespace
}  // namespace callgate::server::key_book_test
