// Brings a database to the schema that this callgate knows. Forward only. Each file of
// migrations/ENGINE/ is one step, run once; all that are missing run in one transaction, under a
// lock that keeps other processes out.
// The version is PRAGMA user_version in SQLite and the table callgate_schema in PostgreSQL.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "store/database.h"

namespace callgate::store {

// `CALG`, in the header of every database that callgate made.
inline constexpr std::int64_t kApplicationId = 0x43414C47;

struct Migration {
  int version = 0;
  std::string_view name;
  std::string_view sql;
};

// In order, from version 1, without gaps.
std::span<const Migration> migrations(Engine engine);

// 0 for an empty database. Changes nothing.
Attempt<int> schema_version(Database& database);

// not_ours or too_new when this callgate must leave the database alone. Changes nothing.
Attempt<void> check_owner(Database& database, std::span<const Migration> steps);

// Does nothing when the database is up to date. REQUIRES: check_owner() gave no fault.
Attempt<void> migrate(Database& database, std::span<const Migration> steps);

// Opens, checks and migrates: a database that is ready for use.
Attempt<std::unique_ptr<Database>> open_migrated(std::string_view url,
                                                 const DatabaseOptions& options);

}  // namespace callgate::store
