// A run in PostgreSQL: a row that its process renews. A run that was silent for long is dead, and
// what it left running is interrupted. A process that was only cut off continues its run when it
// is back, and completes its rows after all. All of this goes by the clock of the server.
#pragma once

#include <string>

#include "store/run_database.h"

namespace callgate::store {

inline constexpr std::int64_t kDay = 86'400'000;  // in milliseconds; a partition holds one

class PostgresRunDatabase final : public RunDatabase {
 public:
  PostgresRunDatabase(std::string url, const DatabaseOptions& options,
                      std::chrono::milliseconds stale)
      : url_(std::move(url)), options_(options), stale_(stale) {}

  Attempt<void> open() override;
  void after_fault(const Fault& fault) override;
  Attempt<void> tend() override;
  void end() override;

 private:
  Attempt<void> begin_run();
  Attempt<void> close_dead_runs();
  Attempt<void> make_partitions();

  const std::string url_;
  const DatabaseOptions options_;
  const std::chrono::milliseconds stale_;
  std::int64_t partitioned_until_ = 0;
};

// Days of the log's tables, each a partition. `day` counts from 1970-01-01.
std::string partition_name(std::string_view table, std::int64_t day);
// Those of one day. When rows of it are in the default partition already, that day keeps it.
Attempt<void> make_partitions(Database& database, std::int64_t day);

}  // namespace callgate::store
