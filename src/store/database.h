// The request log's database: an open connection with its schema up to date, and the statements
// that the log needs.
// Not safe to use from two threads at once.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/entry_fold.h"
#include "store/request_log.h"
#include "store/run.h"
#include "store/sqlite.h"

namespace callgate::store {

class Database {
 public:
  // Creates the file, migrates it, and begins a run or goes on with `previous_run` (0 for none).
  // Leaves a file that is not callgate's as it is.
  static Attempt<Database> open(const std::string& path, const RequestLogOptions& options,
                                RunLock& lock, std::int64_t previous_run);

  // One transaction. Writing the same again changes nothing, so a batch whose commit gave a fault
  // is safe to repeat.
  Attempt<void> write(std::span<Write> writes);
  Attempt<std::vector<RequestRow>> recent(std::size_t limit);
  Attempt<std::optional<RequestRow>> get(std::string_view id);
  // Marks what this run left running as interrupted.
  Attempt<void> end_run();

  std::int64_t run() const { return run_; }

 private:
  explicit Database(Connection connection) : connection_(std::move(connection)) {}
  Attempt<void> prepare();
  // False when the rows must be written one by one.
  Attempt<bool> write_together(std::span<Write> writes);
  Attempt<void> write_one(Write& write);

  // The statements must go before their connection.
  Connection connection_;
  Statement insert_begun_;
  Statement insert_whole_;
  Statement insert_many_;
  Statement update_;
  Statement select_recent_;
  Statement select_one_;
  std::int64_t run_ = 0;
};

// Whether the bytes at `path` begin as a database that callgate made.
bool looks_like_ours(const std::string& path);

// Renames a damaged database and what belongs to it; gives the new path.
Attempt<std::string> move_aside(const std::string& path);

}  // namespace callgate::store
