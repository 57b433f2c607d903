#include "store/migration.h"

#include <gtest/gtest.h>

#include "store/scratch_testing.h"

namespace callgate::store {
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

}  // namespace
}  // namespace callgate::store
