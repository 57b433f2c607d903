#include "store/entry_fold.h"

#include <gtest/gtest.h>

namespace callgate::store::entry_fold_test {
namespace {

Entry begin(const char* id) { return RequestRecord{.id = id}; }
Entry complete(const char* id) { return RequestOutcome{.id = id}; }

TEST(EntryFold, joins_what_is_in_one_batch) {
  EntryFold fold;
  const std::vector<Entry> batch = {begin("a"), begin("b"), complete("b"), complete("a")};
  const std::vector<Write> writes = fold.fold(batch, 1);
  ASSERT_EQ(writes.size(), 2u);
  EXPECT_EQ(writes[0].record->id, "a");
  EXPECT_EQ(writes[0].outcome->id, "a");
  EXPECT_EQ(writes[0].key.number, 1);
  EXPECT_EQ(writes[1].outcome->id, "b");
  EXPECT_EQ(writes[1].key.number, 2);
  EXPECT_EQ(fold.open_count(), 0u);
}

TEST(EntryFold, finds_what_an_earlier_batch_began) {
  EntryFold fold;
  const std::vector<Entry> first = {begin("a"), begin("b")};
  EXPECT_EQ(fold.fold(first, 1).size(), 2u);
  EXPECT_EQ(fold.open_count(), 2u);
  const std::vector<Entry> second = {complete("b")};
  const std::vector<Write> writes = fold.fold(second, 1);
  ASSERT_EQ(writes.size(), 1u);
  EXPECT_EQ(writes[0].record, nullptr);
  EXPECT_EQ(writes[0].key.number, 2);
  EXPECT_EQ(fold.open_count(), 1u);
}

TEST(EntryFold, tells_requests_of_two_keys_apart_that_share_an_id) {
  EntryFold fold;
  const auto begun = [](const char* key) {
    return Entry(RequestRecord{.id = "a", .key_name = key});
  };
  const auto done = [](const char* key) {
    return Entry(RequestOutcome{.id = "a", .key_name = key});
  };
  const std::vector<Entry> first = {begun("x"), begun("y"), begun("z"), done("y")};
  const std::vector<Write> writes = fold.fold(first, 1);
  ASSERT_EQ(writes.size(), 3u);
  EXPECT_EQ(writes[0].outcome, nullptr);
  EXPECT_EQ(writes[1].outcome->key_name, "y");
  const std::vector<Entry> second = {done("z"), done("other"), done("x")};
  const std::vector<Write> later = fold.fold(second, 1);
  EXPECT_EQ(later[0].key.number, 3);
  EXPECT_EQ(later[1].key.number, 0);
  EXPECT_EQ(later[2].key.number, 1);
  EXPECT_EQ(fold.open_count(), 0u);
}

TEST(EntryFold, keeps_requests_with_the_same_id_apart) {
  EntryFold fold;
  const std::vector<Entry> batch = {begin("a"), complete("a"), begin("a"), begin("a"),
                                    complete("a")};
  const std::vector<Write> writes = fold.fold(batch, 1);
  ASSERT_EQ(writes.size(), 3u);
  EXPECT_NE(writes[0].outcome, nullptr);
  EXPECT_NE(writes[1].outcome == nullptr, writes[2].outcome == nullptr);
  EXPECT_EQ(fold.open_count(), 1u);
}

TEST(EntryFold, knows_no_row_for_a_complete_without_begin) {
  EntryFold fold;
  const std::vector<Entry> batch = {complete("a")};
  const std::vector<Write> writes = fold.fold(batch, 1);
  ASSERT_EQ(writes.size(), 1u);
  EXPECT_EQ(writes[0].key.number, 0);
}

}  // namespace
}  // namespace callgate::store::entry_fold_test
