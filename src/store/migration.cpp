#include "store/migration.h"

#include <array>
#include <string>

#include "store/sqlite_database.h"

namespace callgate::store {
namespace {

constexpr std::array kSqliteMigrations = {
#include "sqlite_migrations.inc"
};
constexpr std::array kPostgresMigrations = {
#include "postgresql_migrations.inc"
};
// `callgate` as a number: what every callgate that migrates a PostgreSQL database locks.
constexpr std::int64_t kMigrationLock = 0x63616c6c67617465;
// A step may rewrite a large table.
constexpr std::chrono::hours kMigrationTimeout{6};

Attempt<void> check_sqlite_owner(Database& database, int version) {
  const Attempt<std::int64_t> owner = database.integer("PRAGMA application_id");
  if (!owner) return tl::unexpected(owner.error());
  const Attempt<std::int64_t> tables = database.integer("SELECT count(*) FROM sqlite_schema");
  if (!tables) return tl::unexpected(tables.error());
  const bool empty = *owner == 0 && version == 0 && *tables == 0;
  if (*owner != kApplicationId && !empty) {
    return fault(FaultKind::not_ours, "the database belongs to another program");
  }
  return {};
}

// Callgate shares a PostgreSQL database with others, but not a table.
Attempt<void> check_postgres_owner(Database& database, int version) {
  if (version > 0) return {};
  // Another callgate may make them right now: its tables and its version come at the same moment.
  const Attempt<std::int64_t> tables = database.integer(
      "SELECT count(*) FROM pg_tables WHERE schemaname = current_schema() AND "
      "tablename IN ('request', 'run', 'session') AND NOT EXISTS (SELECT 1 FROM pg_tables WHERE "
      "schemaname = current_schema() AND tablename = 'callgate_schema')");
  if (!tables) return tl::unexpected(tables.error());
  if (*tables == 0) return {};
  return fault(FaultKind::not_ours,
               "the schema has tables of another program: use a database or a schema of its own");
}

Attempt<void> set_version(Database& database, int version) {
  const std::string number = std::to_string(version);
  switch (database.engine()) {
    case Engine::sqlite:
      return database.run("PRAGMA user_version = " + number +
                          "; PRAGMA application_id = " + std::to_string(kApplicationId));
    case Engine::postgresql:
      return database.run(
          "CREATE TABLE IF NOT EXISTS callgate_schema (version integer NOT NULL);"
          "DELETE FROM callgate_schema; INSERT INTO callgate_schema VALUES (" +
          number + ")");
  }
  return {};
}

Attempt<Transaction> begin_alone(Database& database) {
  const bool sqlite = database.engine() == Engine::sqlite;
  Attempt<Transaction> transaction =
      Transaction::begin(database, sqlite ? "BEGIN EXCLUSIVE" : "BEGIN");
  if (!transaction || sqlite) return transaction;
  const Attempt<void> locked =
      database.run("SELECT pg_advisory_xact_lock(" + std::to_string(kMigrationLock) + ")");
  if (!locked) return tl::unexpected(locked.error());
  return transaction;
}

Attempt<void> migrate_alone(Database& database, std::span<const Migration> steps) {
  Attempt<Transaction> transaction = begin_alone(database);
  if (!transaction) return tl::unexpected(transaction.error());
  // Another process may have been first.
  const Attempt<int> version = schema_version(database);
  if (!version) return tl::unexpected(version.error());
  for (const Migration& step : steps) {
    if (step.version <= *version) continue;
    Attempt<void> applied = database.run(std::string(step.sql));
    if (applied) applied = set_version(database, step.version);
    if (!applied) {
      return fault(applied.error().kind,
                   "migration " + std::string(step.name) + ": " + applied.error().message);
    }
  }
  return transaction->commit();
}

}  // namespace

std::span<const Migration> migrations(Engine engine) {
  switch (engine) {
    case Engine::sqlite:
      return kSqliteMigrations;
    case Engine::postgresql:
      return kPostgresMigrations;
  }
  return {};
}

Attempt<int> schema_version(Database& database) {
  const auto to_version = [](const Attempt<std::int64_t>& number) -> Attempt<int> {
    if (!number) return tl::unexpected(number.error());
    return static_cast<int>(*number);
  };
  if (database.engine() == Engine::sqlite) {
    return to_version(database.integer("PRAGMA user_version"));
  }
  const Attempt<std::int64_t> there = database.integer(
      "SELECT count(*) FROM pg_tables WHERE schemaname = current_schema() AND "
      "tablename = 'callgate_schema'");
  if (!there || *there == 0) return to_version(there);
  return to_version(database.integer("SELECT version FROM callgate_schema"));
}

Attempt<void> check_owner(Database& database, std::span<const Migration> steps) {
  const Attempt<int> version = schema_version(database);
  if (!version) return tl::unexpected(version.error());
  const Attempt<void> owner = database.engine() == Engine::sqlite
                                  ? check_sqlite_owner(database, *version)
                                  : check_postgres_owner(database, *version);
  if (!owner) return owner;
  const int latest = steps.back().version;
  if (*version > latest) {
    return fault(FaultKind::too_new, "schema version " + std::to_string(*version) +
                                         " is newer than " + std::to_string(latest) +
                                         ", the latest this callgate knows: run a newer callgate");
  }
  return {};
}

Attempt<void> migrate(Database& database, std::span<const Migration> steps) {
  const Attempt<int> version = schema_version(database);
  if (!version) return tl::unexpected(version.error());
  if (*version >= steps.back().version) return {};
  return migrate_alone(database, steps);
}

Attempt<std::unique_ptr<Database>> open_migrated(std::string_view url,
                                                 const DatabaseOptions& options) {
  Attempt<std::unique_ptr<Database>> database = open_database(url, options);
  if (!database) return database;
  const std::span<const Migration> steps = migrations((*database)->engine());
  Attempt<void> ready = check_owner(**database, steps);
  if (ready && (*database)->engine() == Engine::sqlite) {
    ready = static_cast<SqliteDatabase&>(**database).configure();
  }
  if (ready) ready = (*database)->set_statement_timeout(kMigrationTimeout);
  if (ready) ready = migrate(**database, steps);
  if (ready) ready = (*database)->set_statement_timeout(options.statement_timeout);
  if (!ready) return tl::unexpected(ready.error());
  return database;
}

}  // namespace callgate::store
