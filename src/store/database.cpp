#include "store/database.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

#include "store/migration.h"
#include "store/request_row.h"

namespace callgate::store {
namespace {

constexpr std::size_t kHeaderSize = 100;
constexpr std::size_t kApplicationIdOffset = 68;
// Rows of one INSERT: more gain nothing, one alone costs a third more.
constexpr std::size_t kRowsTogether = 16;

// A checkpoint each 4,000 pages instead of 1,000: every batch touches the same few pages again.
Attempt<void> configure(Connection& connection, const RequestLogOptions& options) {
  const bool full = options.synchronous == Synchronous::full;
  std::string sql =
      "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 4000;"
      "PRAGMA secure_delete = OFF; PRAGMA temp_store = MEMORY;";
  sql += full ? "PRAGMA synchronous = FULL;" : "PRAGMA synchronous = NORMAL;";
  if (options.max_pages > 0) {
    sql += "PRAGMA max_page_count = " + std::to_string(options.max_pages) + ";";
  }
  return connection.run(sql);
}

}  // namespace

Attempt<Database> Database::open(const std::string& path, const RequestLogOptions& options,
                                 RunLock& lock, std::int64_t previous_run) {
  Attempt<Connection> connection = Connection::open(path, options.busy_timeout);
  if (!connection) return tl::unexpected(connection.error());
  Attempt<void> ready = check_owner(*connection, migrations());
  if (ready) ready = configure(*connection, options);
  if (ready) ready = migrate(*connection, migrations());
  if (!ready) return tl::unexpected(ready.error());
  const Attempt<std::int64_t> run = begin_run(*connection, lock, previous_run);
  if (!run) return tl::unexpected(run.error());

  Database database(std::move(*connection));
  database.run_ = *run;
  ready = database.prepare();
  if (!ready) return tl::unexpected(ready.error());
  return database;
}

Attempt<void> Database::prepare() {
  const auto into = [this](Statement& statement, const std::string& sql) -> Attempt<void> {
    Attempt<Statement> prepared = connection_.prepare(sql);
    if (!prepared) return tl::unexpected(prepared.error());
    statement = std::move(*prepared);
    return {};
  };
  Attempt<void> ready = into(insert_begun_, insert_begun_sql());
  if (ready) ready = into(insert_whole_, insert_whole_sql(1));
  if (ready) ready = into(insert_many_, insert_whole_sql(kRowsTogether));
  if (ready) ready = into(update_, update_sql());
  if (ready) {
    ready = into(select_recent_, select_sql("ORDER BY received_at DESC, seq DESC LIMIT ?1"));
  }
  if (ready) ready = into(select_one_, select_sql("WHERE id = ?1 ORDER BY seq DESC LIMIT 1"));
  return ready;
}

Attempt<void> Database::write(std::span<Write> writes) {
  Attempt<Transaction> transaction = Transaction::begin(connection_, "BEGIN IMMEDIATE");
  if (!transaction) return tl::unexpected(transaction.error());
  while (!writes.empty()) {
    const Attempt<bool> together = write_together(writes);
    if (!together) return tl::unexpected(together.error());
    if (!*together) {
      const Attempt<void> written = write_one(writes.front());
      if (!written) return written;
    }
    writes = writes.subspan(*together ? kRowsTogether : 1);
  }
  return transaction->commit();
}

Attempt<bool> Database::write_together(std::span<Write> writes) {
  if (writes.size() < kRowsTogether) return false;
  writes = writes.first(kRowsTogether);
  for (const Write& write : writes) {
    if (!write.record || !write.outcome) return false;
  }
  int row = 0;
  for (Write& write : writes) {
    write.refused = false;
    bind_whole(insert_many_, row++, *write.record, *write.outcome, {run_, write.number});
  }
  const Attempt<void> written = insert_many_.run();
  if (written) return true;
  if (written.error().kind == FaultKind::bad_row) return false;
  return tl::unexpected(written.error());
}

Attempt<void> Database::write_one(Write& write) {
  Attempt<void> written;
  if (!write.record) {
    bind_update(update_, *write.outcome, {run_, write.number});
    written = update_.run();
  } else if (!write.outcome) {
    bind_begun(insert_begun_, *write.record, {run_, write.number});
    written = insert_begun_.run();
  } else {
    bind_whole(insert_whole_, 0, *write.record, *write.outcome, {run_, write.number});
    written = insert_whole_.run();
  }
  write.refused = !write.record && written && connection_.changes() == 0;
  if (!written && written.error().kind == FaultKind::bad_row) {
    write.refused = true;
    return {};
  }
  return written;
}

Attempt<std::vector<RequestRow>> Database::recent(std::size_t limit) {
  select_recent_.bind(1, static_cast<std::int64_t>(limit));
  std::vector<RequestRow> rows;
  Attempt<bool> row = select_recent_.step();
  for (; row && *row; row = select_recent_.step()) rows.push_back(read_row(select_recent_));
  select_recent_.reset();
  if (!row) return tl::unexpected(row.error());
  return rows;
}

Attempt<std::optional<RequestRow>> Database::get(std::string_view id) {
  select_one_.bind(1, id);
  const Attempt<bool> row = select_one_.step();
  std::optional<RequestRow> found;
  if (row && *row) found = read_row(select_one_);
  select_one_.reset();
  if (!row) return tl::unexpected(row.error());
  return found;
}

Attempt<void> Database::end_run() { return store::end_run(connection_, run_); }

bool looks_like_ours(const std::string& path) {
  std::array<unsigned char, kHeaderSize> header{};
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             &std::fclose);
  if (!file || std::fread(header.data(), 1, header.size(), file.get()) != header.size()) {
    return false;
  }
  std::int64_t owner = 0;
  for (std::size_t i = 0; i < 4; ++i) owner = owner << 8 | header[kApplicationIdOffset + i];
  return std::memcmp(header.data(), "SQLite format 3", 16) == 0 && owner == kApplicationId;
}

Attempt<std::string> move_aside(const std::string& path) {
  namespace fs = std::filesystem;
  using std::chrono::milliseconds;
  using std::chrono::system_clock;
  const auto now = std::chrono::duration_cast<milliseconds>(system_clock::now().time_since_epoch());
  const std::string target = path + ".corrupt-" + std::to_string(now.count());
  std::error_code failed;
  for (const char* part : {"-wal", "-shm"}) fs::rename(path + part, target + part, failed);
  fs::rename(path, target, failed);
  if (failed) return fault(FaultKind::other, "cannot rename " + path + ": " + failed.message());
  return target;
}

}  // namespace callgate::store
