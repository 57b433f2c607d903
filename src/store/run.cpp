#include "store/run.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>
#include <vector>

#include "callgate/version.h"

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

std::int64_t now_ms() {
  using std::chrono::milliseconds;
  using std::chrono::system_clock;
  return std::chrono::duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.data();
}

Attempt<std::int64_t> insert_run(Connection& connection) {
  Attempt<Statement> insert =
      connection.prepare("INSERT INTO run (pid, host, version, started_at) VALUES (?, ?, ?, ?)");
  if (!insert) return tl::unexpected(insert.error());
  const std::string host = host_name();
  insert->bind(1, std::int64_t{getpid()});
  insert->bind(2, host);
  insert->bind(3, std::string_view(kVersion));
  insert->bind(4, now_ms());
  const Attempt<void> inserted = insert->run();
  if (!inserted) return tl::unexpected(inserted.error());
  return connection.last_row_id();
}

Attempt<bool> is_open(Connection& connection, std::int64_t run) {
  if (run == 0) return false;
  const Attempt<std::int64_t> found = connection.integer(
      "SELECT count(*) FROM run WHERE ended_at IS NULL AND id = " + std::to_string(run) +
      " AND pid = " + std::to_string(getpid()));
  if (!found) return tl::unexpected(found.error());
  return *found == 1;
}

Attempt<std::vector<std::int64_t>> dead_runs(Connection& connection, std::int64_t self,
                                             const RunLock& lock) {
  Attempt<Statement> select =
      connection.prepare("SELECT id FROM run WHERE ended_at IS NULL AND id <> ?");
  if (!select) return tl::unexpected(select.error());
  select->bind(1, self);
  std::vector<std::int64_t> dead;
  for (;;) {
    const Attempt<bool> row = select->step();
    if (!row) return tl::unexpected(row.error());
    if (!*row) return dead;
    if (!lock.is_held_by_other(select->integer(0))) dead.push_back(select->integer(0));
  }
}

// The doubled condition lets SQLite use the partial index.
Attempt<void> close_run(Connection& connection, std::int64_t run) {
  const std::string id = std::to_string(run);
  Attempt<void> done = connection.run(
      "UPDATE request SET state = 'interrupted'"
      " WHERE state <> 'completed' AND state = 'running' AND run = " +
      id);
  if (!done) return done;
  return connection.run("UPDATE run SET ended_at = " + std::to_string(now_ms()) +
                        " WHERE id = " + id);
}

}  // namespace

Attempt<RunLock> RunLock::open(const std::string& database_path) {
  RunLock lock;
  if (database_path == ":memory:") return lock;
  const std::string path = database_path + "-runs";
  lock.file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (lock.file_ < 0) {
    const FaultKind kind = errno == EROFS ? FaultKind::read_only : FaultKind::cannot_open;
    return fault(kind, "cannot open " + path + ": " + std::strerror(errno));
  }
  return lock;
}

RunLock::RunLock(RunLock&& other) noexcept
    : file_(std::exchange(other.file_, -1)), held_(std::exchange(other.held_, -1)) {}

RunLock& RunLock::operator=(RunLock&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(held_, other.held_);
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

Attempt<std::int64_t> begin_run(Connection& connection, RunLock& lock, std::int64_t previous) {
  const Attempt<bool> alive = is_open(connection, previous);
  if (!alive) return tl::unexpected(alive.error());
  if (*alive) return previous;

  Attempt<Transaction> transaction = Transaction::begin(connection, "BEGIN IMMEDIATE");
  if (!transaction) return tl::unexpected(transaction.error());
  const Attempt<std::int64_t> run = insert_run(connection);
  if (!run) return run;
  // Taken before others can see the row.
  if (!lock.take(*run)) return fault(FaultKind::busy, "another process holds the lock of this run");
  const Attempt<std::vector<std::int64_t>> dead = dead_runs(connection, *run, lock);
  if (!dead) return tl::unexpected(dead.error());
  for (const std::int64_t id : *dead) {
    const Attempt<void> closed = close_run(connection, id);
    if (!closed) return tl::unexpected(closed.error());
  }
  const Attempt<void> committed = transaction->commit();
  if (!committed) return tl::unexpected(committed.error());
  return *run;
}

Attempt<void> end_run(Connection& connection, std::int64_t run) {
  Attempt<Transaction> transaction = Transaction::begin(connection, "BEGIN IMMEDIATE");
  if (!transaction) return tl::unexpected(transaction.error());
  const Attempt<void> closed = close_run(connection, run);
  if (!closed) return closed;
  return transaction->commit();
}

}  // namespace callgate::store
