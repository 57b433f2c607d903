#include "store/database.h"

#include <gtest/gtest.h>

#include <deque>

#include "store/scratch_testing.h"

namespace callgate::store {
namespace {

class DatabaseTest : public testing::Test {
 protected:
  Write whole(const std::string& id, RequestState state = RequestState::completed) {
    records_.push_back(sample_record(id));
    outcomes_.push_back(sample_outcome(id));
    outcomes_.back().state = state;
    return {.record = &records_.back(), .outcome = &outcomes_.back(), .number = ++number_};
  }
  Write begun(const std::string& id) {
    records_.push_back(sample_record(id));
    return {.record = &records_.back(), .number = ++number_};
  }
  std::vector<Write> many(int count) {
    std::vector<Write> writes;
    for (int i = 0; i < count; ++i) writes.push_back(whole(std::to_string(i)));
    return writes;
  }
  std::size_t rows() { return database_.recent(10'000).value().size(); }

  RunLock lock_;
  Database database_ = Database::open(":memory:", {}, lock_, 0).value();
  std::deque<RequestRecord> records_;
  std::deque<RequestOutcome> outcomes_;
  std::int64_t number_ = 0;
};

TEST_F(DatabaseTest, writes_any_number_of_rows) {
  std::size_t expected = 0;
  for (const int count : {0, 1, 15, 16, 17, 32, 100}) {
    std::vector<Write> writes = many(count);
    ASSERT_TRUE(database_.write(writes)) << count;
    expected += static_cast<std::size_t>(count);
    EXPECT_EQ(rows(), expected);
  }
}

TEST_F(DatabaseTest, keeps_the_fields_of_each_row_apart) {
  std::vector<Write> writes = many(16);
  for (std::size_t i = 0; i < writes.size(); ++i) {
    outcomes_[i].total_ms = static_cast<std::int64_t>(i);
    if (i % 2 == 0) outcomes_[i].upstream = "other";
  }
  ASSERT_TRUE(database_.write(writes));
  for (std::size_t i = 0; i < writes.size(); ++i) {
    const auto row = database_.get(std::to_string(i)).value();
    ASSERT_TRUE(row);
    EXPECT_EQ(row->outcome.total_ms, static_cast<std::int64_t>(i));
    EXPECT_EQ(row->record.upstream, i % 2 == 0 ? "other" : "moonshot");
  }
}

TEST_F(DatabaseTest, writing_the_same_again_changes_nothing) {
  std::vector<Write> writes = many(20);
  writes.push_back(begun("open"));
  ASSERT_TRUE(database_.write(writes));
  ASSERT_TRUE(database_.write(writes));
  EXPECT_EQ(rows(), 21u);
  EXPECT_EQ(database_.get("open").value()->outcome.state, RequestState::running);
}

TEST_F(DatabaseTest, a_row_that_does_not_fit_is_refused_alone) {
  std::vector<Write> writes = many(16);
  // A state that no version of the schema allows.
  outcomes_[5].state = static_cast<RequestState>(99);
  ASSERT_TRUE(database_.write(writes));
  EXPECT_EQ(rows(), 15u);
  for (std::size_t i = 0; i < writes.size(); ++i) EXPECT_EQ(writes[i].refused, i == 5) << i;
}

TEST_F(DatabaseTest, goes_back_to_a_row_that_was_begun_before) {
  std::vector<Write> first = {begun("a")};
  ASSERT_TRUE(database_.write(first));
  outcomes_.push_back(sample_outcome("a"));
  outcomes_.push_back(sample_outcome("unknown"));
  std::vector<Write> second = {{.outcome = &outcomes_[0], .number = first[0].number},
                               {.outcome = &outcomes_[1], .number = 77}};
  ASSERT_TRUE(database_.write(second));
  EXPECT_FALSE(second[0].refused);
  EXPECT_TRUE(second[1].refused);
  EXPECT_EQ(database_.get("a").value()->outcome.state, RequestState::completed);
}

}  // namespace
}  // namespace callgate::store
