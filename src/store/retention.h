// How long the log is kept, and the sweeper that sums up its hours, deletes the rest and indexes texts: on a
// connection and a thread of its own, in steps so small that a writer hardly waits.
//
// SQLite: the oldest rows go, some hundred at a time. The file does not shrink, its pages are used
// again; the size that counts is what is in use.
// PostgreSQL: whole days go, so both limits are exact to a day, and today always stays.
// Sessions are not the log: they have an end of their own.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "store/database.h"

namespace callgate::store {

struct Retention {
  std::chrono::milliseconds keep{0};  // 0: forever
  std::uint64_t keep_bytes = 0;       // 0: no limit
};

// One step. True when there is more to do. `now` is in Unix milliseconds.
Attempt<bool> sweep(Database& database, const Retention& retention, std::int64_t now);

class Sweeper {
 public:
  Sweeper(std::string url, const DatabaseOptions& options, const Retention& retention,
          std::chrono::milliseconds every, std::function<void(std::string_view)> on_problem);
  ~Sweeper();

 private:
  void run();
  // False when it is to stop.
  bool wait(std::chrono::milliseconds pause);
  Attempt<void> sweep_all(Database& database);
  // A clock that jumps ahead must not delete the log: it may be an hour ahead at most.
  std::int64_t now() const;

  const std::string url_;
  const DatabaseOptions options_;
  const Retention retention_;
  const std::chrono::milliseconds every_;
  const std::function<void(std::string_view)> on_problem_;
  const std::int64_t started_at_;
  const std::chrono::steady_clock::time_point started_;
  std::mutex mutex_;
  std::condition_variable stop_;
  bool stopped_ = false;
  std::thread thread_;
};

}  // namespace callgate::store
