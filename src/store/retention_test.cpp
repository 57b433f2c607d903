#include "store/retention.h"

#include <gtest/gtest.h>

#include "net/unix_time.h"
#include "store/contract_testing.h"
#include "store/migration.h"
#include "store/postgres_run.h"
#include "store/run_database.h"
#include "store/search/search_index.h"

namespace callgate::store::retention_test {
namespace {

using std::chrono::milliseconds;
constexpr std::int64_t kDay = 86'400'000;

class RetentionContract : public StoreContract {
 protected:
  // One request each day, the last today.
  void fill(int days) {
    const auto log = open_log(url());
    const auto database = open_database(url(), {}).value();
    for (int i = 0; i < days; ++i) {
      const std::int64_t at = now_ - (days - 1 - i) * kDay;
      if (!is_sqlite()) make_partition(*database, at / kDay);
      RequestRecord record = sample_record("r" + std::to_string(i), at);
      record.received = std::string(1000, 'x');
      RequestOutcome outcome = sample_outcome(record.id);
      outcome.call_rows = {{"c", "search", CallOutcome::complete}};
      outcome.search = "word";
      log->begin(std::move(record));
      log->complete(std::move(outcome));
    }
    ASSERT_TRUE(log->flush(kLong));
  }
  static void make_partition(Database& database, std::int64_t day) {
    for (const std::string table : {"request", "call", "content", "request_search"}) {
      ASSERT_TRUE(database.run("CREATE TABLE IF NOT EXISTS " + partition_name(table, day) +
                               " PARTITION OF " + table + " FOR VALUES FROM (" +
                               std::to_string(day * kDay) + ") TO (" +
                               std::to_string((day + 1) * kDay) + ")"));
    }
  }
  void sweep_all(const Retention& retention) {
    const auto database = open_database(url(), {}).value();
    for (int step = 0; step < 100; ++step) {
      const Attempt<bool> more = sweep(*database, retention, now_);
      ASSERT_TRUE(more) << more.error().message;
      if (!*more) return;
    }
    FAIL() << "the sweeper does not end";
  }
  std::int64_t count(const std::string& table) {
    return open_database(url(), {}).value()->integer("SELECT count(*) FROM " + table).value();
  }
  const std::int64_t now_ = net::unix_ms();
};
CALLGATE_ON_BOTH_ENGINES(RetentionContract);

TEST_P(RetentionContract, deletes_what_is_too_old_with_all_that_belongs_to_it) {
  fill(10);
  ASSERT_TRUE(index_waiting(*open_database(url(), {}).value()));
  sweep_all({.keep = milliseconds(4 * kDay + 1000)});
  for (const char* table : {"request", "call", "content", "request_search"}) {
    EXPECT_EQ(count(table), 5) << table;
  }
  EXPECT_EQ(open_log(url())->recent(100).value().back().record.id, "r5");
}

TEST_P(RetentionContract, deletes_the_oldest_when_there_is_too_much) {
  fill(10);
  sweep_all({.keep_bytes = 1});
  // PostgreSQL keeps today.
  EXPECT_EQ(count("request"), is_sqlite() ? 0 : 1);
  EXPECT_EQ(count("content"), is_sqlite() ? 0 : 1);
}

TEST_P(RetentionContract, also_finds_rows_outside_of_the_days_that_were_made) {
  {
    const auto log = open_log(url());
    for (const std::int64_t at : {std::int64_t{5}, now_ - 400 * kDay, now_ + 400 * kDay}) {
      log->begin(sample_record("r", at));
      log->complete(sample_outcome("r"));
    }
    ASSERT_TRUE(log->flush(kLong));
  }
  EXPECT_EQ(count("request"), 3);
  sweep_all({.keep = milliseconds(30 * kDay)});
  EXPECT_EQ(count("request"), 1);
}

TEST_P(RetentionContract, sweeps_behind_the_back_of_a_log) {
  fill(3);
  RequestLogOptions options;
  options.keep = milliseconds(kDay + kDay / 2);  // half a day from either row, however slow we are
  options.sweep_every = milliseconds(5);
  options.on_problem = [](std::string_view problem) { ADD_FAILURE() << problem; };
  const auto log = open_log(url(), std::move(options));
  EXPECT_TRUE(eventually([&] { return count("request") == 2; }));
  EXPECT_TRUE(log->health().healthy);
}

TEST(Retention, keeps_what_is_as_old_as_allowed_and_what_still_runs) {
  const ScratchFolder folder;
  constexpr std::int64_t kNow = 1'760'000'000'000;
  {
    const auto log = open_log(folder.url());
    for (const auto& [id, age] : {std::pair{"old", 1001}, {"just", 1000}, {"young", 999}}) {
      log->begin(sample_record(id, kNow - age));
      log->complete(sample_outcome(id));
    }
    log->begin(sample_record("running", kNow - 5000));
    ASSERT_TRUE(log->flush(kLong));
    const auto database = open_database(folder.url(), {}).value();
    EXPECT_FALSE(sweep(*database, {.keep = milliseconds(1000)}, kNow).value());
    EXPECT_FALSE(sweep(*database, {}, kNow + 100 * kDay).value()) << "nothing is ever too old";
    std::string left;
    const auto rows = log->recent(10).value();
    for (const RequestRow& row : rows) left += row.record.id + " ";
    EXPECT_EQ(left, "young just running ");
  }
}

TEST(Retention, deletes_in_steps) {
  const ScratchFolder folder;
  const auto log = open_log(folder.url());
  for (int i = 0; i < 401; ++i) {
    log->begin(sample_record(std::to_string(i), 1000 + i));
    log->complete(sample_outcome(std::to_string(i)));
  }
  ASSERT_TRUE(log->flush(kLong));
  const auto database = open_database(folder.url(), {}).value();
  const Retention retention{.keep = milliseconds(1)};
  EXPECT_TRUE(sweep(*database, retention, 1'000'000).value());
  EXPECT_EQ(database->integer("SELECT min(received_at) FROM request"), 1200);
  EXPECT_TRUE(sweep(*database, retention, 1'000'000).value());
  EXPECT_FALSE(sweep(*database, retention, 1'000'000).value());
  EXPECT_EQ(database->integer("SELECT count(*) FROM request"), 0);
}

TEST(Retention, a_store_that_is_as_large_as_allowed_keeps_everything) {
  const ScratchFolder folder;
  {
    const auto log = open_log(folder.url());
    log->begin(sample_record("a"));
    log->complete(sample_outcome("a"));
  }
  const auto database = open_database(folder.url(), {}).value();
  const std::int64_t used =
      database
          ->integer(
              "SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, "
              "pragma_freelist_count, pragma_page_size")
          .value();
  const auto left = [&](std::int64_t most) {
    EXPECT_FALSE(sweep(*database, {.keep_bytes = static_cast<std::uint64_t>(most)}, 5).value());
    return database->integer("SELECT count(*) FROM request").value();
  };
  EXPECT_EQ(left(used), 1);
  EXPECT_EQ(left(used - 1), 0);
}

}  // namespace
}  // namespace callgate::store::retention_test
