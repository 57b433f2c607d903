// Brings a database to the schema that this callgate knows. Forward only; the version is PRAGMA
// user_version.
// Each file of migrations/ is one step, run once, all of them in one exclusive transaction.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "store/sqlite.h"

namespace callgate::store {

// `CALG`, in the header of every database that callgate made.
inline constexpr std::int64_t kApplicationId = 0x43414C47;

struct Migration {
  int version = 0;
  std::string_view name;
  std::string_view sql;
};

// In order, from version 1, without gaps.
std::span<const Migration> migrations();

// not_ours or too_new when this callgate must leave the database alone. Changes nothing.
Attempt<void> check_owner(Connection& connection, std::span<const Migration> steps);

// Does nothing when the database is up to date. REQUIRES: check_owner() gave no fault.
Attempt<void> migrate(Connection& connection, std::span<const Migration> steps);

}  // namespace callgate::store
