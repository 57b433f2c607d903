#include "store/retention.h"

#include <sys/resource.h>
#include <unistd.h>

#include <vector>

#include "net/unix_time.h"
#include "store/postgres_run.h"
#include "store/run_database.h"
#include "store/search/search_index.h"
#include "store/usage_hours.h"

namespace callgate::store {
namespace {

// A step of this many rows holds SQLite's lock for some milliseconds.
constexpr std::int64_t kRowsAtOnce = 200;
constexpr std::chrono::milliseconds kBetweenSteps{20};
constexpr int kNiceness = 5;
constexpr std::string_view kLogTables[] = {"request", "call", "content", "request_search"};

Attempt<std::int64_t> used_bytes(Database& database) {
  if (database.engine() == Engine::sqlite) {
    return database.integer(
        "SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, "
        "pragma_freelist_count, pragma_page_size");
  }
  return database.integer(
      "SELECT coalesce(sum(pg_total_relation_size(i.inhrelid)), 0)::bigint FROM pg_inherits i "
      "WHERE i.inhparent IN ('request'::regclass, 'call'::regclass, 'content'::regclass, "
      "'request_search'::regclass)");
}

// Rows received before `before`, the oldest first.
Attempt<bool> delete_rows(Database& database, std::int64_t before) {
  const Value limits[] = {before, kRowsAtOnce};
  const Attempt<Rows> rows = database.query(
      "SELECT seq FROM request WHERE received_at < $1 AND state <> 'running' ORDER BY received_at "
      "LIMIT $2",
      limits);
  if (!rows) return tl::unexpected(rows.error());
  if (rows->empty()) return false;
  std::vector<Value> values;
  values.reserve(3 * rows->size());  // no span into it may move
  std::vector<Command> commands;
  for (std::size_t i = 0; i < rows->size(); ++i) {
    const std::int64_t seq = (*rows)[i].integer(0);
    values.insert(values.end(), {seq, seq * 4, seq * 4 + 3});
    const std::span<const Value> all = std::span(values).last(3);
    commands.push_back({"DELETE FROM content WHERE place BETWEEN $1 AND $2", all.subspan(1)});
    commands.push_back({"DELETE FROM call WHERE seq = $1", all.first(1)});
    commands.push_back({"DELETE FROM request_search WHERE rowid = $1", all.first(1)});
    commands.push_back({"DELETE FROM request WHERE seq = $1", all.first(1)});
  }
  const Attempt<std::vector<std::int64_t>> done = database.batch(commands);
  if (!done) return tl::unexpected(done.error());
  return static_cast<std::int64_t>(rows->size()) == kRowsAtOnce;
}

Attempt<bool> sweep_sqlite(Database& database, const Retention& retention, std::int64_t now) {
  if (retention.keep.count() > 0) {
    const Attempt<bool> more = delete_rows(database, now - retention.keep.count());
    if (!more || *more) return more;
  }
  if (retention.keep_bytes == 0) return false;
  const Attempt<std::int64_t> used = used_bytes(database);
  if (!used) return tl::unexpected(used.error());
  if (*used <= static_cast<std::int64_t>(retention.keep_bytes)) return false;
  return delete_rows(database, INT64_MAX);
}

// 20261116 of the oldest partition; 0 if there is none.
Attempt<std::int64_t> oldest_partition(Database& database) {
  return database.integer(
      "SELECT coalesce(min(substr(c.relname::text, 9)::bigint), 0) FROM pg_inherits i JOIN "
      "pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'request'::regclass AND c.relname ~ "
      "'^request_[0-9]{8}$'");
}

std::int64_t to_number(std::int64_t day) { return std::stoll(partition_name("", day).substr(1)); }

// Waits at most a second for those who use it, because others queue up after it.
Attempt<void> drop_partition(Database& database, std::int64_t number) {
  Attempt<Transaction> transaction = Transaction::begin(database);
  if (!transaction) return tl::unexpected(transaction.error());
  std::string sql = "SET LOCAL lock_timeout = '1s';";
  for (const std::string_view table : kLogTables) {
    sql += "DROP TABLE IF EXISTS " + std::string(table) + "_" + std::to_string(number) + ";";
  }
  const Attempt<void> dropped = database.run(sql);
  if (!dropped) return dropped;
  return transaction->commit();
}

// Rows that came for days without a partition.
Attempt<bool> delete_default_rows(Database& database, std::int64_t before) {
  const Value values[] = {before, 10 * kRowsAtOnce};
  bool more = false;
  for (const std::string_view table : kLogTables) {
    const std::string name = std::string(table) + "_default";
    const Attempt<std::int64_t> deleted =
        database.change("DELETE FROM " + name + " WHERE ctid = ANY (ARRAY(SELECT ctid FROM " +
                            name + " WHERE received_at < $1 LIMIT $2))",
                        values);
    if (!deleted) return tl::unexpected(deleted.error());
    more = more || *deleted == 10 * kRowsAtOnce;
  }
  return more;
}

Attempt<bool> sweep_postgres(Database& database, const Retention& retention, std::int64_t now) {
  const Attempt<std::int64_t> oldest = oldest_partition(database);
  if (!oldest) return tl::unexpected(oldest.error());
  const std::int64_t today = now / kDay;
  bool drop = false;
  if (retention.keep.count() > 0) {
    const std::int64_t before = now - retention.keep.count();
    // A day goes when its last request is too old.
    drop = *oldest != 0 && *oldest < to_number(before / kDay) && *oldest < to_number(today);
    const Attempt<bool> more = delete_default_rows(database, before);
    if (!more || (*more && !drop)) return more;
  }
  if (!drop && retention.keep_bytes > 0 && *oldest != 0 && *oldest < to_number(today)) {
    const Attempt<std::int64_t> used = used_bytes(database);
    if (!used) return tl::unexpected(used.error());
    drop = *used > static_cast<std::int64_t>(retention.keep_bytes);
  }
  if (!drop) return false;
  const Attempt<void> dropped = drop_partition(database, *oldest);
  if (!dropped) return tl::unexpected(dropped.error());
  return true;
}

}  // namespace

Attempt<bool> sweep(Database& database, const Retention& retention, std::int64_t now) {
  switch (database.engine()) {
    case Engine::sqlite:
      return sweep_sqlite(database, retention, now);
    case Engine::postgresql:
      return sweep_postgres(database, retention, now);
  }
  return false;
}

Sweeper::Sweeper(std::string url, const DatabaseOptions& options, const Retention& retention,
                 std::chrono::milliseconds every, std::function<void(std::string_view)> on_problem)
    : url_(std::move(url)),
      options_(options),
      retention_(retention),
      every_(every),
      on_problem_(std::move(on_problem)),
      started_at_(net::unix_ms()),
      started_(std::chrono::steady_clock::now()),
      thread_([this] { run(); }) {}

Sweeper::~Sweeper() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  stop_.notify_all();
  thread_.join();
}

bool Sweeper::wait(std::chrono::milliseconds pause) {
  std::unique_lock lock(mutex_);
  return !stop_.wait_for(lock, pause, [this] { return stopped_; });
}

std::int64_t Sweeper::now() const {
  using std::chrono::milliseconds;
  constexpr std::int64_t kHour = 3'600'000;
  const auto passed = std::chrono::steady_clock::now() - started_;
  return std::min(net::unix_ms(),
                  started_at_ + std::chrono::duration_cast<milliseconds>(passed).count() + kHour);
}

void Sweeper::run() {
  // Whatever answers requests comes first.
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kNiceness);
  while (wait(every_)) {
    DatabaseOptions existing = options_;
    existing.must_exist = true;
    const Attempt<std::unique_ptr<Database>> database = open_database(url_, existing);
    Attempt<void> swept;
    if (database) {
      swept = sweep_all(**database);
    } else {
      swept = tl::unexpected(database.error());
    }
    // A partition that is busy now is dropped the next time.
    const bool tell = !swept && swept.error().kind != FaultKind::busy;
    if (tell && on_problem_) on_problem_("sweeper: " + swept.error().message);
  }
}

Attempt<void> Sweeper::sweep_all(Database& database) {
  for (;;) {
    const Attempt<bool> more = sum_hour(database, now());
    if (!more) return tl::unexpected(more.error());
    if (!*more) break;
    if (!wait(kBetweenSteps)) return {};
  }
  for (;;) {
    const Attempt<bool> more = sweep(database, retention_, now());
    if (!more) return tl::unexpected(more.error());
    if (!*more) break;
    if (!wait(kBetweenSteps)) return {};
  }
  for (;;) {
    const Attempt<bool> more = index_some(database);
    if (!more) return tl::unexpected(more.error());
    if (!*more || !wait(kBetweenSteps)) return {};
  }
}

}  // namespace callgate::store
