#include "store/sqlite_run.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>
#include <vector>

#include "callgate/version.h"
#include "net/unix_time.h"
#include "store/migration.h"
#include "store/sqlite_database.h"

namespace callgate::store {
namespace {

struct flock byte_range(std::int64_t begin, std::int64_t length) {
  struct flock range {};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  range.l_start = begin;
  range.l_len = length;
  return range;
}

// Whether somebody else holds a byte of the range. Length 0 means to the end of the file.
bool is_locked(int file, std::int64_t begin, std::int64_t length) {
  struct flock range = byte_range(begin, length);
  return fcntl(file, F_OFD_GETLK, &range) == 0 && range.l_type != F_UNLCK;
}

Attempt<std::int64_t> insert_run(Database& database) {
  const std::string host = host_name();
  const Value values[] = {std::int64_t{getpid()}, std::string_view(host),
                          std::string_view(kVersion), net::unix_ms()};
  return database.integer(
      "INSERT INTO run (pid, host, version, started_at) VALUES ($1, $2, $3, $4) RETURNING id",
      values);
}

Attempt<bool> is_open(Database& database, std::int64_t run) {
  if (run == 0) return false;
  const Value values[] = {run, std::int64_t{getpid()}};
  const Attempt<std::int64_t> found = database.integer(
      "SELECT count(*) FROM run WHERE ended_at IS NULL AND id = $1 AND pid = $2", values);
  if (!found) return tl::unexpected(found.error());
  return *found == 1;
}

Attempt<std::vector<std::int64_t>> dead_runs(Database& database, std::int64_t self,
                                             const RunLock& lock) {
  const Value values[] = {self};
  const Attempt<Rows> rows =
      database.query("SELECT id FROM run WHERE ended_at IS NULL AND id <> $1", values);
  if (!rows) return tl::unexpected(rows.error());
  std::vector<std::int64_t> dead;
  for (std::size_t i = 0; i < rows->size(); ++i) {
    const std::int64_t id = (*rows)[i].integer(0);
    if (!lock.is_held_by_other(id)) dead.push_back(id);
  }
  return dead;
}

// The doubled condition lets SQLite use the partial index.
Attempt<void> close_run(Database& database, std::int64_t run) {
  const std::string id = std::to_string(run);
  Attempt<void> done = database.run(
      "UPDATE request SET state = 'interrupted'"
      " WHERE state <> 'completed' AND state = 'running' AND run = " +
      id);
  if (!done) return done;
  return database.run("UPDATE run SET ended_at = " + std::to_string(net::unix_ms()) +
                      " WHERE id = " + id);
}

}  // namespace

Attempt<RunLock> RunLock::open(const std::string& database_path) {
  RunLock lock;
  if (database_path == ":memory:") return lock;
  const std::string path = database_path + "-runs";
  lock.file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock.file_ < 0) {
    const FaultKind kind = errno == EROFS ? FaultKind::read_only : FaultKind::cannot_open;
    return fault(kind, "cannot open " + path + ": " + std::strerror(errno));
  }
  ::fchmod(lock.file_, 0600);
  lock.mark_.emplace(path);
  return lock;
}

RunLock::RunLock(RunLock&& other) noexcept
    : file_(std::exchange(other.file_, -1)),
      held_(std::exchange(other.held_, -1)),
      mark_(std::move(other.mark_)) {}

RunLock& RunLock::operator=(RunLock&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(held_, other.held_);
  std::swap(mark_, other.mark_);
  return *this;
}

RunLock::~RunLock() {
  if (file_ >= 0) ::close(file_);
}

bool RunLock::take(std::int64_t run) {
  if (file_ < 0) return true;
  let_go();
  struct flock range = byte_range(run, 1);
  if (fcntl(file_, F_OFD_SETLK, &range) != 0) return false;
  held_ = run;
  return true;
}

void RunLock::let_go() {
  if (held_ < 0) return;
  struct flock range = byte_range(held_, 1);
  range.l_type = F_UNLCK;
  fcntl(file_, F_OFD_SETLK, &range);
  held_ = -1;
}

bool RunLock::is_held_by_other(std::int64_t run) const {
  return file_ >= 0 && is_locked(file_, run, 1);
}

bool RunLock::has_company() const { return file_ >= 0 && is_locked(file_, 0, 0); }

Attempt<std::int64_t> begin_run(Database& database, RunLock& lock, std::int64_t previous) {
  const Attempt<bool> alive = is_open(database, previous);
  if (!alive) return tl::unexpected(alive.error());
  if (*alive) return previous;

  Attempt<Transaction> transaction = Transaction::begin(database);
  if (!transaction) return tl::unexpected(transaction.error());
  const Attempt<std::int64_t> run = insert_run(database);
  if (!run) return run;
  // Taken before others can see the row.
  if (!lock.take(*run)) return fault(FaultKind::busy, "another process holds the lock of this run");
  const Attempt<std::vector<std::int64_t>> dead = dead_runs(database, *run, lock);
  if (!dead) return tl::unexpected(dead.error());
  for (const std::int64_t id : *dead) {
    const Attempt<void> closed = close_run(database, id);
    if (!closed) return tl::unexpected(closed.error());
  }
  const Attempt<void> committed = transaction->commit();
  if (!committed) return tl::unexpected(committed.error());
  return *run;
}

Attempt<void> end_run(Database& database, std::int64_t run) {
  Attempt<Transaction> transaction = Transaction::begin(database);
  if (!transaction) return tl::unexpected(transaction.error());
  const Attempt<void> closed = close_run(database, run);
  if (!closed) return closed;
  return transaction->commit();
}

Attempt<void> SqliteRunDatabase::open() {
  if (database_) return {};
  if (loss_ && lock_ && !lock_->is_current()) lock_.reset();
  if (!lock_) {
    Attempt<RunLock> lock = RunLock::open(path_);
    if (!lock) return tl::unexpected(lock.error());
    lock_ = std::move(*lock);
  }
  if (loss_) return open_after_loss();
  if (damage_) {
    const Attempt<void> replaced = replace_damaged();
    if (!replaced) return replaced;
  }
  const Attempt<void> opened = open_file(run_);
  if (opened || opened.error().kind != FaultKind::corrupt) return opened;
  damage_ = opened.error();
  const Attempt<void> replaced = replace_damaged();
  return replaced ? open_file(0) : replaced;
}

// Begins a new run: in another file, or beside another lock, the old one is unknown.
Attempt<void> SqliteRunDatabase::open_after_loss() {
  if (loss_->kind == FaultKind::truncated && options_.recreate) {
    const Attempt<std::string> moved = move_aside(path_, "truncated");
    if (!moved) return tl::unexpected(moved.error());
    loss_ = Fault{FaultKind::gone, loss_->message + ", is kept as " + *moved};
  }
  const Attempt<void> opened = open_file(0);
  if (opened) {
    notice_ = loss_->message + "; what it held is lost unless a copy was put in its place";
    loss_.reset();
  } else if (opened.error().kind == FaultKind::corrupt && options_.recreate) {
    loss_.reset();
    damage_ = opened.error();
  }
  return opened;
}

Attempt<void> SqliteRunDatabase::open_file(std::int64_t previous_run) {
  DatabaseOptions options = options_;
  options.must_exist = loss_.has_value() && !options_.recreate;
  Attempt<std::unique_ptr<Database>> opened = open_migrated("sqlite:" + path_, options);
  if (!opened) return tl::unexpected(opened.error());
  if (options.must_exist) {
    const Attempt<void> whole = (*opened)->verify();
    if (!whole) return whole;
  }
  const Attempt<std::int64_t> run = begin_run(**opened, *lock_, previous_run);
  if (!run) return tl::unexpected(run.error());
  run_ = *run;
  database_ = std::move(*opened);
  return {};
}

// A database in memory has nothing to open again.
void SqliteRunDatabase::after_fault(const Fault& fault) {
  if (keeps_connection(fault.kind) || path_ == ":memory:") return;
  if (fault.kind == FaultKind::corrupt) damage_ = fault;
  if (fault.kind == FaultKind::gone || fault.kind == FaultKind::truncated) loss_ = fault;
  database_.reset();
}

Attempt<void> SqliteRunDatabase::replace_damaged() {
  const std::string why = damage_->message;
  if (!looks_like_ours(path_)) {
    return fault(FaultKind::not_ours, why + "; it does not look like callgate's: move it away");
  }
  if (lock_->has_company()) {
    return fault(FaultKind::corrupt, why + "; another process uses the file: stop that first");
  }
  const Attempt<std::string> moved = move_aside(path_, "corrupt");
  if (!moved) return tl::unexpected(moved.error());
  damage_.reset();
  notice_ =
      path_ + " was damaged (" + why + "), is kept as " + *moved + ", and a new one was begun";
  return {};
}

Attempt<void> SqliteRunDatabase::verify() {
  Attempt<void> verified = database_->verify();
  if (verified && !lock_->is_current()) {
    return fault(FaultKind::gone, path_ + "-runs was deleted while it was in use");
  }
  return verified;
}

// What fails here is found and mended by the next start.
void SqliteRunDatabase::end() {
  if (database_) static_cast<void>(end_run(*database_, run_));
  database_.reset();
}

}  // namespace callgate::store
