// Words between gateways that share a PostgreSQL, over LISTEN and NOTIFY on a connection of their own. A word is sent alone,
// after what it is about was committed: NOTIFY inside a transaction that writes would make all such commits wait for each
// other. Words may be lost while the connection is away, so who listens asks from time to time as well.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "store/database_options.h"
#include "store/fault.h"

namespace callgate::store {

class PostgresDatabase;

class Notices {
 public:
  // `hear` is called on a thread of its own: with each word that any gateway sent, this one included, and with an empty one
  // when some may have been lost.
  Notices(std::string url, DatabaseOptions options, std::string channel,
          std::function<void(std::string_view word)> hear);
  ~Notices();
  Notices(const Notices&) = delete;
  Notices& operator=(const Notices&) = delete;

  // Any thread, never waits. Beyond 1,000 that wait the oldest is dropped.
  void send(std::string word);

 private:
  void work();
  // Until the connection breaks or the end.
  Attempt<void> listen(PostgresDatabase& database);
  Attempt<void> send_all(PostgresDatabase& database);
  void wait(int socket, int timeout_ms);

  const std::string url_;
  const DatabaseOptions options_;
  const std::string channel_;
  const std::function<void(std::string_view)> hear_;
  int wake_ = -1;  // an eventfd
  std::mutex mutex_;
  std::deque<std::string> words_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace callgate::store
