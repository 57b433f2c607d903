#include "store/migration.h"

#include <array>
#include <string>

namespace callgate::store {
namespace {

constexpr std::array kMigrations = {
#include "store_migrations.inc"
};

}  // namespace

std::span<const Migration> migrations() { return kMigrations; }

Attempt<void> check_owner(Connection& connection, std::span<const Migration> steps) {
  const Attempt<std::int64_t> owner = connection.integer("PRAGMA application_id");
  if (!owner) return tl::unexpected(owner.error());
  const Attempt<std::int64_t> tables = connection.integer("SELECT count(*) FROM sqlite_schema");
  if (!tables) return tl::unexpected(tables.error());
  const Attempt<std::int64_t> version = connection.integer("PRAGMA user_version");
  if (!version) return tl::unexpected(version.error());

  const bool empty = *owner == 0 && *version == 0 && *tables == 0;
  if (*owner != kApplicationId && !empty) {
    return fault(FaultKind::not_ours, "the database belongs to another program");
  }
  const int latest = steps.back().version;
  if (*version > latest) {
    return fault(FaultKind::too_new, "schema version " + std::to_string(*version) +
                                         " is newer than " + std::to_string(latest) +
                                         ", the latest this callgate knows: run a newer callgate");
  }
  return {};
}

Attempt<void> migrate(Connection& connection, std::span<const Migration> steps) {
  const int latest = steps.back().version;
  Attempt<std::int64_t> version = connection.integer("PRAGMA user_version");
  if (!version) return tl::unexpected(version.error());
  if (*version >= latest) return {};

  Attempt<Transaction> transaction = Transaction::begin(connection, "BEGIN EXCLUSIVE");
  if (!transaction) return tl::unexpected(transaction.error());
  // Another process may have been first.
  version = connection.integer("PRAGMA user_version");
  if (!version) return tl::unexpected(version.error());
  for (const Migration& step : steps) {
    if (step.version <= *version) continue;
    Attempt<void> applied = connection.run(std::string(step.sql));
    if (applied) applied = connection.run("PRAGMA user_version = " + std::to_string(step.version));
    if (!applied) {
      return fault(applied.error().kind,
                   "migration " + std::string(step.name) + ": " + applied.error().message);
    }
  }
  if (auto named = connection.run("PRAGMA application_id = " + std::to_string(kApplicationId));
      !named) {
    return named;
  }
  return transaction->commit();
}

}  // namespace callgate::store
