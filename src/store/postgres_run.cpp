#include "store/postgres_run.h"

#include <unistd.h>

#include <array>
#include <cstdio>

#include "callgate/version.h"
#include "net/unix_time.h"
#include "store/migration.h"

namespace callgate::store {
namespace {

constexpr std::int64_t kDaysAhead = 2;
// Keeps processes from making the same partition at once.
constexpr std::string_view kPartitionLock = "SELECT pg_advisory_xact_lock(7165063489325655141)";

// Of the server, in milliseconds.
#define CALLGATE_SERVER_NOW "(extract(epoch FROM statement_timestamp()) * 1000)::bigint"

}  // namespace

Attempt<void> PostgresRunDatabase::open() {
  if (database_) return {};
  Attempt<std::unique_ptr<Database>> opened = open_migrated(url_, options_);
  if (!opened) return tl::unexpected(opened.error());
  database_ = std::move(*opened);
  partitioned_until_ = 0;
  Attempt<void> ready = begin_run();
  if (ready) ready = tend();
  if (!ready) database_.reset();
  return ready;
}

void PostgresRunDatabase::after_fault(const Fault& fault) {
  if (!keeps_connection(fault.kind)) database_.reset();
}

Attempt<void> PostgresRunDatabase::begin_run() {
  if (run_ != 0) {
    const Value values[] = {run_};
    const Attempt<std::int64_t> renewed = database_->change(
        "UPDATE run SET ended_at = NULL, seen_at = " CALLGATE_SERVER_NOW " WHERE id = $1", values);
    if (!renewed) return tl::unexpected(renewed.error());
    if (*renewed == 1) return {};
  }
  const std::string host = host_name();
  const Value values[] = {std::int64_t{getpid()}, std::string_view(host),
                          std::string_view(kVersion), net::unix_ms()};
  const Attempt<std::int64_t> run = database_->integer(
      "INSERT INTO run (pid, host, version, started_at, seen_at) VALUES ($1, $2, $3, "
      "$4, " CALLGATE_SERVER_NOW ") RETURNING id",
      values);
  if (!run) return tl::unexpected(run.error());
  run_ = *run;
  return {};
}

Attempt<void> PostgresRunDatabase::tend() {
  const Value values[] = {run_};
  const Attempt<std::int64_t> renewed = database_->change(
      "UPDATE run SET ended_at = NULL, seen_at = " CALLGATE_SERVER_NOW " WHERE id = $1", values);
  if (!renewed) return tl::unexpected(renewed.error());
  Attempt<void> done = close_dead_runs();
  if (done) done = make_partitions();
  return done;
}

Attempt<void> PostgresRunDatabase::close_dead_runs() {
  const Value values[] = {run_, static_cast<std::int64_t>(stale_.count())};
  const Attempt<Rows> dead = database_->query(
      "SELECT id FROM run WHERE ended_at IS NULL AND id <> $1 AND seen_at < " CALLGATE_SERVER_NOW
      " - $2::bigint",
      values);
  if (!dead) return tl::unexpected(dead.error());
  for (std::size_t i = 0; i < dead->size(); ++i) {
    const Value run[] = {(*dead)[i].integer(0)};
    const Command commands[] = {
        {"UPDATE request SET state = 'interrupted' WHERE state <> 'completed' AND state = "
         "'running' AND run = $1",
         run},
        {"UPDATE run SET ended_at = " CALLGATE_SERVER_NOW " WHERE id = $1", run}};
    const Attempt<std::vector<std::int64_t>> closed = database_->batch(commands);
    if (!closed) return tl::unexpected(closed.error());
  }
  return {};
}

Attempt<void> PostgresRunDatabase::make_partitions() {
  const Attempt<std::int64_t> now = database_->integer("SELECT " CALLGATE_SERVER_NOW);
  if (!now) return tl::unexpected(now.error());
  const std::int64_t today = *now / kDay;
  if (partitioned_until_ >= today + kDaysAhead) return {};
  for (std::int64_t day = today; day <= today + kDaysAhead; ++day) {
    const Attempt<void> made = store::make_partitions(*database_, day);
    if (!made && !keeps_connection(made.error().kind)) return made;
  }
  partitioned_until_ = today + kDaysAhead;
  return {};
}

void PostgresRunDatabase::end() {
  if (database_) {
    const Value values[] = {run_};
    const Command commands[] = {
        {"UPDATE request SET state = 'interrupted' WHERE state <> 'completed' AND state = "
         "'running' AND run = $1",
         values},
        {"UPDATE run SET ended_at = " CALLGATE_SERVER_NOW " WHERE id = $1", values}};
    // What fails here is mended by others when the run is stale.
    static_cast<void>(database_->batch(commands));
  }
  database_.reset();
}

// request_20261116
std::string partition_name(std::string_view table, std::int64_t day) {
  const std::chrono::year_month_day date{std::chrono::sys_days{std::chrono::days{day}}};
  std::array<char, 32> digits{};
  std::snprintf(digits.data(), digits.size(), "_%04d%02u%02u", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
  return std::string(table) + digits.data();
}

Attempt<void> make_partitions(Database& database, std::int64_t day) {
  Attempt<Transaction> transaction = Transaction::begin(database);
  if (!transaction) return tl::unexpected(transaction.error());
  std::string sql = std::string(kPartitionLock) + ";";
  for (const std::string_view table : {"request", "call", "content", "request_search"}) {
    sql += "CREATE TABLE IF NOT EXISTS " + partition_name(table, day) + " PARTITION OF " +
           std::string(table) + " FOR VALUES FROM (" + std::to_string(day * kDay) + ") TO (" +
           std::to_string((day + 1) * kDay) + ");";
  }
  const Attempt<void> made = database.run(sql);
  if (!made) return made;
  return transaction->commit();
}

}  // namespace callgate::store
