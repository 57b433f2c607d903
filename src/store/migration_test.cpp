#include "store/migration.h"

#include <gtest/gtest.h>

#include "store/contract_testing.h"

namespace callgate::store::migration_test {
namespace {

std::unique_ptr<Database> open(const ScratchFolder& folder) {
  return open_database(folder.url(), {}).value();
}

std::span<const Migration> migrations() { return store::migrations(Engine::sqlite); }

TEST(Migration, versions_count_up_from_one) {
  int expected = 1;
  for (const Migration& step : migrations()) EXPECT_EQ(step.version, expected++) << step.name;
  EXPECT_GT(expected, 1);
}

TEST(Migration, builds_the_schema_in_an_empty_database) {
  const ScratchFolder folder;
  const auto database = open(folder);
  ASSERT_TRUE(check_owner(*database, migrations()));
  ASSERT_TRUE(migrate(*database, migrations()));
  EXPECT_EQ(database->integer("PRAGMA user_version"), migrations().back().version);
  EXPECT_EQ(database->integer("PRAGMA application_id"), kApplicationId);
  EXPECT_EQ(database->integer("SELECT count(*) FROM request"), 0);
}

TEST(Migration, does_nothing_the_second_time) {
  const ScratchFolder folder;
  const auto database = open(folder);
  ASSERT_TRUE(migrate(*database, migrations()));
  ASSERT_TRUE(
      database->run("INSERT INTO run (pid, host, version, started_at)"
                    " VALUES (1, 'h', 'v', 5)"));
  const auto before = database->integer("PRAGMA schema_version").value();
  ASSERT_TRUE(check_owner(*database, migrations()));
  ASSERT_TRUE(migrate(*database, migrations()));
  EXPECT_EQ(database->integer("PRAGMA schema_version"), before);
  EXPECT_EQ(database->integer("SELECT count(*) FROM run"), 1);
}

TEST(Migration, applies_only_the_steps_that_are_missing) {
  const ScratchFolder folder;
  const auto database = open(folder);
  const Migration first{1, "0001_a", "CREATE TABLE a (x INTEGER) STRICT;"};
  const Migration second{2, "0002_b", "CREATE TABLE b (x INTEGER) STRICT;"};
  ASSERT_TRUE(migrate(*database, std::array{first}));
  ASSERT_TRUE(migrate(*database, std::array{first, second}));
  EXPECT_EQ(database->integer("SELECT count(*) FROM sqlite_schema"), 2);
  EXPECT_EQ(database->integer("PRAGMA user_version"), 2);
}

TEST(Migration, leaves_nothing_behind_when_a_step_fails) {
  const ScratchFolder folder;
  const auto database = open(folder);
  const Migration first{1, "0001_a", "CREATE TABLE a (x INTEGER) STRICT;"};
  const Migration second{2, "0002_b", "CREATE TABLE a (x INTEGER) STRICT;"};
  const Attempt<void> failed = migrate(*database, std::array{first, second});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "migration 0002_b: table a already exists");
  EXPECT_EQ(database->integer("SELECT count(*) FROM sqlite_schema"), 0);
  EXPECT_EQ(database->integer("PRAGMA user_version"), 0);
}

TEST(Migration, refuses_a_newer_schema) {
  const ScratchFolder folder;
  const auto database = open(folder);
  ASSERT_TRUE(migrate(*database, migrations()));
  ASSERT_TRUE(database->run("PRAGMA user_version = 99"));
  const Attempt<void> checked = check_owner(*database, migrations());
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().kind, FaultKind::too_new);
  EXPECT_EQ(checked.error().message.find("schema version 99 is newer than "), 0u);
}

TEST(Migration, refuses_the_database_of_another_program) {
  const ScratchFolder folder;
  const auto database = open(folder);
  ASSERT_TRUE(database->run("CREATE TABLE photos (x)"));
  const Attempt<void> checked = check_owner(*database, migrations());
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().kind, FaultKind::not_ours);
}

class MigrationContract : public StoreContract {};
CALLGATE_ON_BOTH_ENGINES(MigrationContract);

TEST_P(MigrationContract, every_earlier_version_can_be_brought_up_to_date) {
  const std::span<const Migration> steps = store::migrations(GetParam());
  for (std::size_t version = 1; version < steps.size(); ++version) {
    const std::string store = new_url(true);
    {
      const auto database = open_database(store, {}).value();
      ASSERT_TRUE(migrate(*database, steps.first(version)));
      EXPECT_EQ(schema_version(*database), steps[version - 1].version);
      // What the first version wrote.
      ASSERT_TRUE(database->run(
          is_sqlite() ? "INSERT INTO run (id, pid, host, version, started_at) VALUES (1, 1, 'h', "
                        "'v', 5)"
                      : "INSERT INTO run (pid, host, version, started_at, seen_at) VALUES (1, "
                        "'h', 'v', 5, 5)"));
      ASSERT_TRUE(database->run(
          "INSERT INTO request (seq, id, run, state, received_at, model, stream, calls, total_ms) "
          "VALUES (1099511627777, 'old', 1, 'completed', 1760000000000, 'm', 1, 2, 30), "
          "(1099511627778, 'open', 1, 'running', 1760000000001, 'm', 1, NULL, NULL)"));
    }
    const auto log = open_log(store);
    EXPECT_EQ(log->stats().value().schema, steps.back().version);
    EXPECT_EQ(log->get("old").value()->outcome.total_ms, 30);
    EXPECT_EQ(log->get("open").value()->outcome.state, RequestState::interrupted);
    EXPECT_EQ(log->search({.model = "m", .has_calls = true}).value().rows.size(), 1u);
    log->begin(sample_record("new"));
    log->complete(sample_outcome("new"));
    ASSERT_TRUE(log->flush(kLong));
    EXPECT_EQ(log->get("new").value()->outcome.total_ms, 250);
  }
}

}  // namespace
}  // namespace callgate::store::migration_test
