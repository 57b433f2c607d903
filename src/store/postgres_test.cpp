#include "store/postgres.h"

#include <gtest/gtest.h>

#include "store/migration.h"
#include "store/postgres_testing.h"

namespace callgate::store::postgres_test {
namespace {

std::unique_ptr<Database> open(const std::string& url, const DatabaseOptions& options = {}) {
  return open_database(url, options).value();
}

TEST(Postgres_postgresql, gives_back_what_was_given) {
  const auto database = open(shared_postgres().new_store());
  ASSERT_TRUE(database->run("CREATE TABLE t (i bigint, s text, b bytea, n text)"));
  const std::string bytes("\0\xff\\x41'", 6);
  const Value values[] = {std::int64_t{-7}, std::string_view("it's é"), Blob{bytes}, Value()};
  EXPECT_EQ(database->change("INSERT INTO t VALUES ($1, $2, $3, $4)", values), 1);
  const Rows rows = database->query("SELECT i, s, b, n FROM t").value();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].integer(0), -7);
  EXPECT_EQ(rows[0].text(1), "it's é");
  EXPECT_EQ(rows[0].text(2), bytes);
  EXPECT_TRUE(rows[0].is_null(3));
}

TEST(Postgres_postgresql, a_batch_is_written_whole_or_not_at_all) {
  const auto database = open(shared_postgres().new_store());
  ASSERT_TRUE(database->run("CREATE TABLE t (i bigint PRIMARY KEY)"));
  const Value one[] = {std::int64_t{1}};
  const Value two[] = {std::int64_t{2}};
  const std::string_view insert = "INSERT INTO t VALUES ($1)";
  const std::string_view update = "UPDATE t SET i = i WHERE i >= $1";
  const Command good[] = {{insert, one}, {insert, two}, {update, one}};
  EXPECT_EQ(database->batch(good), (std::vector<std::int64_t>{1, 1, 2}));
  const Value three[] = {std::int64_t{3}};
  const Command bad[] = {{insert, three}, {insert, two}, {insert, three}};
  const auto failed = database->batch(bad);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind, FaultKind::bad_row);
  EXPECT_EQ(database->integer("SELECT count(*) FROM t"), 2);
  const Command again[] = {{insert, three}, {update, three}};
  EXPECT_EQ(database->batch(again), (std::vector<std::int64_t>{1, 1}));
}

// Larger than what fits into the buffers of a socket.
TEST(Postgres_postgresql, a_large_batch_flows_both_ways) {
  const auto database = open(shared_postgres().new_store());
  ASSERT_TRUE(database->run("CREATE TABLE t (b bytea)"));
  const std::string body(100'000, 'x');
  const Value values[] = {Blob{body}};
  const std::vector<Command> commands(200, Command{"INSERT INTO t VALUES ($1)", values});
  EXPECT_EQ(database->batch(commands).value().size(), 200u);
  EXPECT_EQ(database->integer("SELECT sum(length(b)) FROM t"), 20'000'000);
}

TEST(Postgres_postgresql, names_faults_for_what_can_be_done) {
  const std::string url = shared_postgres().new_store();
  const auto database = open(url);
  EXPECT_EQ(database->run("SELECT 1/0").error().kind, FaultKind::bad_row);
  EXPECT_EQ(database->run("SELECT nothing").error().kind, FaultKind::other);
  ASSERT_TRUE(database->set_statement_timeout(std::chrono::milliseconds(20)));
  EXPECT_EQ(database->run("SELECT pg_sleep(10)").error().kind, FaultKind::timed_out);
  EXPECT_EQ(database->run("SELECT pg_terminate_backend(pg_backend_pid())").error().kind,
            FaultKind::lost);
  EXPECT_EQ(database->query("SELECT 1").error().kind, FaultKind::lost);
  EXPECT_EQ(open_database(shared_postgres().url("nowhere"), {}).error().kind,
            FaultKind::cannot_open);
  EXPECT_EQ(open_database("postgresql://127.0.0.1:1/x", {}).error().kind, FaultKind::lost);
  EXPECT_EQ(open_database("postgresql://127.0.0.1:x/x", {}).error().kind, FaultKind::cannot_open);
}

TEST(Postgres_postgresql, forgets_statements_when_there_are_many) {
  const auto database = open(shared_postgres().new_store());
  for (int i = 0; i < 450; ++i) {
    EXPECT_EQ(database->integer("SELECT " + std::to_string(i)), i);
  }
}

TEST(Postgres, shows_a_url_without_its_password) {
  EXPECT_EQ(shown_url("postgresql://me:secret@db:5432/log?sslpassword=x"),
            "postgresql://me@db:5432/log");
  EXPECT_EQ(shown_url("postgresql:///log?host=/run"), "postgresql:///log");
  EXPECT_EQ(shown_url("postgresql://db:5432/log"), "postgresql://db:5432/log");
}

TEST(Migration_postgresql, builds_the_schema_once_even_when_many_begin) {
  const std::string url = shared_postgres().new_store();
  std::vector<std::thread> starters;
  for (int i = 0; i < 4; ++i) {
    starters.emplace_back([&] {
      const auto opened = open_migrated(url, {});
      EXPECT_TRUE(opened) << opened.error().message;
    });
  }
  for (std::thread& starter : starters) starter.join();
  const auto database = open(url);
  EXPECT_EQ(schema_version(*database), migrations(Engine::postgresql).back().version);
  ASSERT_TRUE(database->run("UPDATE callgate_schema SET version = 99"));
  EXPECT_EQ(open_migrated(url, {}).error().kind, FaultKind::too_new);
}

TEST(Migration_postgresql, refuses_the_tables_of_another_program) {
  const std::string url = shared_postgres().new_store();
  ASSERT_TRUE(open(url)->run("CREATE TABLE request (x integer)"));
  EXPECT_EQ(open_migrated(url, {}).error().kind, FaultKind::not_ours);
}

}  // namespace
}  // namespace callgate::store::postgres_test
