#include "store/search/search_index.h"

#include <gtest/gtest.h>

#include <thread>

#include "store/contract_testing.h"
#include "store/export.h"
#include "store/request_query.h"

namespace callgate::store::search_index_test {
namespace {

class SearchIndexContract : public StoreContract {
 protected:
  void log(const std::string& id, const std::string& text) {
    log_->begin(sample_record(id));
    end(id, text);
  }
  void end(const std::string& id, const std::string& text) {
    RequestOutcome outcome = sample_outcome(id);
    outcome.search = text;
    log_->complete(std::move(outcome));
  }
  void flush() { ASSERT_TRUE(log_->flush(kLong)); }
  std::size_t found(const std::string& word) {
    return log_->search({.text = word, .limit = 1000}).value().rows.size();
  }
  std::int64_t count(const std::string& table) {
    return database_->integer("SELECT count(*) FROM " + table).value();
  }

  std::unique_ptr<RequestLog> log_ = open_log(url());
  std::unique_ptr<Database> database_ = open_database(url(), {}).value();
};
CALLGATE_ON_BOTH_ENGINES(SearchIndexContract);

TEST_P(SearchIndexContract, what_was_acknowledged_is_found_at_once_and_indexed_then) {
  log("a", "umbrella");
  flush();
  EXPECT_EQ(count("search_waiting"), 1);
  EXPECT_EQ(count("request_search"), 0);
  EXPECT_EQ(found("umbrella"), 1u);
  EXPECT_EQ(count("search_waiting"), 0);
  EXPECT_EQ(count("request_search"), 1);
  EXPECT_EQ(found("umbrella"), 1u);
}

TEST_P(SearchIndexContract, a_request_that_ends_in_a_later_batch_is_found) {
  log_->begin(sample_record("long"));
  flush();
  log("short", "umbrella");
  flush();
  EXPECT_EQ(found("umbrella"), 1u);
  end("long", "umbrella");
  flush();
  EXPECT_EQ(found("umbrella"), 2u);
}

TEST_P(SearchIndexContract, takes_bounded_steps) {
  for (int i = 0; i < 450; ++i) log("r" + std::to_string(i), "umbrella");
  flush();
  EXPECT_TRUE(index_some(*database_).value());
  EXPECT_EQ(count("search_waiting"), 250);
  EXPECT_TRUE(index_some(*database_).value());
  EXPECT_FALSE(index_some(*database_).value());
  EXPECT_FALSE(index_some(*database_).value());
  EXPECT_EQ(found("umbrella"), 450u);
  EXPECT_EQ(check_store(*database_).value().faults, std::vector<std::string>{});
}

TEST_P(SearchIndexContract, indexing_the_same_again_does_no_harm) {
  log("a", "umbrella");
  flush();
  ASSERT_TRUE(database_->run("CREATE TABLE again AS SELECT * FROM search_waiting"));
  ASSERT_TRUE(index_waiting(*database_));
  ASSERT_TRUE(database_->run("INSERT INTO search_waiting SELECT * FROM again"));
  EXPECT_EQ(found("umbrella"), 1u);
}

TEST_P(SearchIndexContract, what_is_gone_or_damaged_does_not_stop_it) {
  for (const char* id : {"gone", "damaged", "well"}) log(id, "umbrella");
  flush();
  const std::string of = " = (SELECT seq FROM request WHERE id = '";
  ASSERT_TRUE(database_->run("DELETE FROM content WHERE place / 4" + of + "gone');" +
                             "DELETE FROM request WHERE id = 'gone'"));
  ASSERT_TRUE(database_->run(
      "UPDATE content SET codec = 3, body = " + std::string(is_sqlite() ? "x'01'" : "'\\x01'") +
      " WHERE place / 4" + of + "damaged')"));
  EXPECT_EQ(found("umbrella"), 1u);
  EXPECT_EQ(count("search_waiting"), 0);
  EXPECT_EQ(count("request_search"), 1);
}

TEST_P(SearchIndexContract, the_sweeper_indexes_without_a_search) {
  log_.reset();
  RequestLogOptions options;
  options.sweep_every = std::chrono::milliseconds(10);
  log_ = open_log(url(), options);
  log("a", "umbrella");
  flush();
  const auto deadline = std::chrono::steady_clock::now() + kLong;
  while (count("request_search") == 0 && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(count("request_search"), 1);
}

TEST(SearchIndex, a_store_that_cannot_be_written_is_searched_as_far_as_it_is_indexed) {
  const ScratchFolder folder;
  const auto log = open_log("sqlite:" + folder.path() + "/log.db");
  for (const char* id : {"a", "b"}) {
    log->begin(sample_record(id));
    RequestOutcome outcome = sample_outcome(id);
    outcome.search = "umbrella";
    log->complete(std::move(outcome));
    ASSERT_TRUE(log->flush(kLong));
    if (std::string_view(id) == "a") ASSERT_EQ(log->search({.text = "umbrella"})->rows.size(), 1u);
  }
  const auto reader = open_database("sqlite:" + folder.path() + "/log.db", {}).value();
  ASSERT_TRUE(reader->run("PRAGMA query_only = ON"));
  EXPECT_EQ(search(*reader, {.text = "umbrella"}).value().rows.size(), 1u);
}

}  // namespace
}  // namespace callgate::store::search_index_test
