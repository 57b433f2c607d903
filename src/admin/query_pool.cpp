#include "admin/query_pool.h"

#include <atomic>
#include <utility>

namespace callgate::server {
namespace {

Error overloaded(std::string message) {
  return {.code = ErrorCode::unavailable, .message = std::move(message), .retry_after = "1"};
}

}  // namespace

struct QueryPool::Question {
  Question(net::Loop& own_loop, Work own_work) : loop(own_loop), work(std::move(own_work)) {}

  net::Loop& loop;
  Work work;
  std::atomic<bool> abandoned{false};
  // The rest is the loop's.
  net::Signal* waiter = nullptr;  // nullptr: the caller has left
  Result<std::string> answer;
};

QueryPool::QueryPool(QueryPoolOptions options) : options_(options) {
  for (std::size_t i = 0; i < options_.threads; ++i) threads_.emplace_back([this] { serve(); });
}

QueryPool::~QueryPool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    waiting_.clear();
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

bool QueryPool::add(std::shared_ptr<Question> question) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_ || waiting_.size() >= options_.queue) return false;
    waiting_.push_back(std::move(question));
  }
  changed_.notify_one();
  return true;
}

void QueryPool::serve() {
  for (;;) {
    std::shared_ptr<Question> question;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
      if (stopping_) return;
      question = std::move(waiting_.front());
      waiting_.pop_front();
    }
    if (question->abandoned.load(std::memory_order_relaxed)) continue;
    auto answer = std::make_shared<Result<std::string>>(question->work());
    question->loop.post([question, answer] {
      if (question->waiter == nullptr) return;
      question->answer = std::move(*answer);
      question->waiter->notify();
    });
  }
}

net::Task<Result<std::string>> QueryPool::run(net::Loop& loop, Work work) {
  // Also when the task that waits is destroyed.
  struct Waiter {
    explicit Waiter(net::Loop& own_loop) : signal(own_loop) {}
    ~Waiter() {
      question->waiter = nullptr;
      question->abandoned.store(true, std::memory_order_relaxed);
    }
    net::Signal signal;
    std::shared_ptr<Question> question;
  };
  Waiter waiter(loop);
  waiter.question = std::make_shared<Question>(loop, std::move(work));
  waiter.question->waiter = &waiter.signal;
  if (!add(waiter.question)) {
    Error full = overloaded("too many questions to the store wait; ask again");
    co_return tl::unexpected(std::move(full));
  }
  const bool answered = co_await waiter.signal.wait(options_.patience);
  if (!answered) {
    Error late = overloaded("the store took longer than " +
                            std::to_string(options_.patience.count() / 1000) +
                            " s to answer; ask for less, or later");
    co_return tl::unexpected(std::move(late));
  }
  co_return std::move(waiter.question->answer);
}

}  // namespace callgate::server
