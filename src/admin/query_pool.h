// Threads for questions to the store, which may take long: event loops ask and go on.
//
//   QueryPool::Work work = [&log] { return print(log.stats()); };
//   auto answer = co_await pool.run(loop, std::move(work));
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "callgate/result.h"
#include "net/loop.h"
#include "net/task.h"

namespace callgate::server {

struct QueryPoolOptions {
  std::size_t threads = 2;
  std::size_t queue = 64;       // questions that wait; more are refused
  net::Millis patience{5'000};  // how long an answer is waited for
};

class QueryPool {
 public:
  // Runs on a thread of the pool: owns whatever it uses, or uses what outlives the pool.
  using Work = std::function<Result<std::string>()>;

  explicit QueryPool(QueryPoolOptions options = {});
  // Waits for the questions that run; those that wait are forgotten. The loops that asked live on until then.
  ~QueryPool();
  QueryPool(const QueryPool&) = delete;
  QueryPool& operator=(const QueryPool&) = delete;

  // On the thread of `loop`. unavailable: too many questions wait, or the answer took too long.
  net::Task<Result<std::string>> run(net::Loop& loop, Work work);

 private:
  struct Question;
  void serve();
  bool add(std::shared_ptr<Question> question);

  const QueryPoolOptions options_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Question>> waiting_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace callgate::server
