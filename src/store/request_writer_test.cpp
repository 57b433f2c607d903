#include "store/request_writer.h"

#include <gtest/gtest.h>

#include <deque>

#include "store/migration.h"
#include "store/request_query.h"
#include "store/scratch_testing.h"

namespace callgate::store::request_writer_test {
namespace {

class RequestWriterTest : public testing::Test {
 protected:
  Write whole(const std::string& id, RequestState state = RequestState::completed) {
    records_.push_back(sample_record(id));
    outcomes_.push_back(sample_outcome(id));
    outcomes_.back().state = state;
    return {.record = &records_.back(),
            .outcome = &outcomes_.back(),
            .key = {1, ++number_, 1'760'000'000'000}};
  }
  Write begun(const std::string& id) {
    records_.push_back(sample_record(id));
    return {.record = &records_.back(), .key = {1, ++number_, 1'760'000'000'000}};
  }
  std::vector<Write> many(int count) {
    std::vector<Write> writes;
    for (int i = 0; i < count; ++i) writes.push_back(whole(std::to_string(i)));
    return writes;
  }
  std::size_t rows() { return recent(*database_, 10'000).value().size(); }

  Attempt<void> write(std::vector<Write>& writes) { return writer_.write(*database_, writes); }
  std::optional<RequestRow> row(const std::string& id) { return get(*database_, id).value(); }

  std::unique_ptr<Database> database_ = open_migrated("sqlite::memory:", {}).value();
  RequestWriter writer_{Engine::sqlite};
  std::deque<RequestRecord> records_;
  std::deque<RequestOutcome> outcomes_;
  std::int64_t number_ = 0;
};

TEST_F(RequestWriterTest, writes_any_number_of_rows) {
  std::size_t expected = 0;
  for (const int count : {0, 1, 15, 16, 17, 32, 100}) {
    std::vector<Write> writes = many(count);
    ASSERT_TRUE(write(writes)) << count;
    expected += static_cast<std::size_t>(count);
    EXPECT_EQ(rows(), expected);
  }
}

TEST_F(RequestWriterTest, keeps_the_fields_of_each_row_apart) {
  std::vector<Write> writes = many(16);
  for (std::size_t i = 0; i < writes.size(); ++i) {
    outcomes_[i].total_ms = static_cast<std::int64_t>(i);
    if (i % 2 == 0) outcomes_[i].upstream = "other";
  }
  ASSERT_TRUE(write(writes));
  for (std::size_t i = 0; i < writes.size(); ++i) {
    const auto found = row(std::to_string(i));
    ASSERT_TRUE(found);
    EXPECT_EQ(found->outcome.total_ms, static_cast<std::int64_t>(i));
    EXPECT_EQ(found->record.upstream, i % 2 == 0 ? "other" : "moonshot");
  }
}

TEST_F(RequestWriterTest, writing_the_same_again_changes_nothing) {
  std::vector<Write> writes = many(20);
  writes.push_back(begun("open"));
  ASSERT_TRUE(write(writes));
  ASSERT_TRUE(write(writes));
  EXPECT_EQ(rows(), 21u);
  EXPECT_EQ(row("open")->outcome.state, RequestState::running);
}

TEST_F(RequestWriterTest, a_row_that_does_not_fit_is_refused_alone) {
  std::vector<Write> writes = many(16);
  // A state that no version of the schema allows.
  outcomes_[5].state = static_cast<RequestState>(99);
  ASSERT_TRUE(write(writes));
  EXPECT_EQ(rows(), 15u);
  for (std::size_t i = 0; i < writes.size(); ++i) EXPECT_EQ(writes[i].refused, i == 5) << i;
}

TEST_F(RequestWriterTest, goes_back_to_a_row_that_was_begun_before) {
  std::vector<Write> first = {begun("a")};
  ASSERT_TRUE(write(first));
  outcomes_.push_back(sample_outcome("a"));
  outcomes_.push_back(sample_outcome("unknown"));
  std::vector<Write> second = {{.outcome = &outcomes_[0], .key = first[0].key},
                               {.outcome = &outcomes_[1], .key = {1, 77, 1'760'000'000'000}}};
  ASSERT_TRUE(write(second));
  EXPECT_FALSE(second[0].refused);
  EXPECT_TRUE(second[1].refused);
  EXPECT_EQ(row("a")->outcome.state, RequestState::completed);
}

TEST_F(RequestWriterTest, marks_calls_whose_name_came_before_in_the_same_request) {
  std::vector<Write> writes = many(2);
  for (const char* name : {"a", "b", "a", "c", "a", "b"}) {
    outcomes_[0].call_rows.push_back({.name = name});
  }
  outcomes_[1].call_rows = {{.name = "a"}};
  ASSERT_TRUE(write(writes));
  const Rows rows =
      database_->query("SELECT seq, number, repeats FROM call ORDER BY seq, number").value();
  std::string repeats;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].integer(1), static_cast<std::int64_t>(i % 6));
    repeats += std::to_string(rows[i].integer(2));
  }
  EXPECT_EQ(repeats, "0010110");
}

}  // namespace
}  // namespace callgate::store::request_writer_test
