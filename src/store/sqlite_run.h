// One start of one process, and which others still live. A run holds a lock on one byte of
// `PATH-runs`, at the offset of its id, for as long as the process lives; the kernel lets go of it
// however the process ends. So a run whose byte is free has ended, on this host or in another
// container that shares the file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "store/run_database.h"
#include "store/sqlite_files.h"

namespace callgate::store {

class RunLock {
 public:
  // `:memory:` needs no file: no other connection sees such a database.
  static Attempt<RunLock> open(const std::string& database_path);
  RunLock() = default;
  RunLock(RunLock&& other) noexcept;
  RunLock& operator=(RunLock&& other) noexcept;
  ~RunLock();

  // False when another open RunLock holds the byte. Taking a byte lets go of the one held before.
  bool take(std::int64_t run);
  bool is_held_by_other(std::int64_t run) const;
  // Whether any run but our own lives.
  bool has_company() const;
  // Whether others would look for us in this file.
  bool is_current() const { return !mark_ || !mark_->change(); }

 private:
  void let_go();
  int file_ = -1;
  std::int64_t held_ = -1;
  std::optional<FileMark> mark_;
};

// Writes the row of this run, takes its byte, and marks what dead runs left running as interrupted.
// Gives the id. `previous` is the run that this process began before it lost the connection, or 0:
// it goes on if it is still there.
Attempt<std::int64_t> begin_run(Database& database, RunLock& lock, std::int64_t previous);
// What this run left running is interrupted as well.
Attempt<void> end_run(Database& database, std::int64_t run);

// A damaged file that is callgate's own and that no other process uses is renamed, and a new one begun. So is one that was
// truncated while it was open; for one that was deleted or replaced, what is there now is opened, or a new one begun. Unless
// `recreate` is off: then all of it is a fault until there is a file again.
class SqliteRunDatabase final : public RunDatabase {
 public:
  SqliteRunDatabase(std::string path, const DatabaseOptions& options)
      : path_(std::move(path)), options_(options) {}

  Attempt<void> open() override;
  void after_fault(const Fault& fault) override;
  Attempt<void> tend() override { return {}; }
  Attempt<void> verify() override;
  void end() override;
  std::string notice() const override { return notice_; }

 private:
  Attempt<void> open_file(std::int64_t previous_run);
  Attempt<void> replace_damaged();
  Attempt<void> open_after_loss();

  const std::string path_;
  const DatabaseOptions options_;
  std::optional<RunLock> lock_;
  std::optional<Fault> damage_;  // the file must be replaced before it is opened again
  std::optional<Fault> loss_;    // the file was taken away while it was open
  std::string notice_;
};

}  // namespace callgate::store
