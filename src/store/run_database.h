// The database as the writer of the request log needs it: open, migrated, and with a run of this
// process in it. A run is one start of one process; what it left running when it died is marked as
// interrupted.
// Used by one thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "store/database.h"

namespace callgate::store {

class RunDatabase {
 public:
  virtual ~RunDatabase() = default;

  // Does nothing when it is open. Goes on with the run of this process if that is still there.
  virtual Attempt<void> open() = 0;
  // What a fault of the database asks for: perhaps it must be opened again, or be replaced.
  virtual void after_fault(const Fault& fault) = 0;
  // Called now and then while it is open.
  virtual Attempt<void> tend() = 0;
  // Database::verify(), and whether others still see this run. REQUIRES: it is open.
  virtual Attempt<void> verify() { return database_->verify(); }
  // Marks what this run left running as interrupted, and closes.
  virtual void end() = 0;
  // Something an operator should know although all is well.
  virtual std::string notice() const { return {}; }

  bool is_open() const { return database_ != nullptr; }
  Database& database() { return *database_; }
  std::int64_t run() const { return run_; }

 protected:
  std::unique_ptr<Database> database_;
  std::int64_t run_ = 0;
};

// How long a run of PostgreSQL may be silent before others take it for dead.
inline constexpr std::chrono::milliseconds kRunStale{60'000};

std::unique_ptr<RunDatabase> make_run_database(std::string_view url, const DatabaseOptions& options,
                                               std::chrono::milliseconds stale = kRunStale);

std::string host_name();

}  // namespace callgate::store
