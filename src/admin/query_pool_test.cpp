#include "admin/query_pool.h"

#include <gtest/gtest.h>

#include <future>

namespace callgate::server::query_pool_test {
namespace {

net::Task<> ask(QueryPool& pool, net::Loop& loop, QueryPool::Work work, std::size_t count,
                std::vector<Result<std::string>>& answers) {
  Result<std::string> answer = co_await pool.run(loop, std::move(work));
  answers.push_back(std::move(answer));
  if (answers.size() == count) loop.stop();
}

TEST(QueryPool, answers_on_the_loop_what_ran_elsewhere) {
  net::Loop loop;
  QueryPool pool;
  std::vector<Result<std::string>> answers;
  const auto here = std::this_thread::get_id();
  for (int i = 0; i < 20; ++i) {
    QueryPool::Work work = [here, i]() -> Result<std::string> {
      if (std::this_thread::get_id() == here) return fail(ErrorCode::internal, "same thread");
      return std::to_string(i);
    };
    loop.spawn(ask(pool, loop, std::move(work), 20, answers));
  }
  loop.run();
  ASSERT_EQ(answers.size(), 20u);
  for (const auto& answer : answers) EXPECT_TRUE(answer.has_value());
}

TEST(QueryPool, gives_up_on_a_slow_store_and_refuses_what_does_not_fit) {
  net::Loop loop;
  std::promise<void> release;
  const std::shared_future<void> released(release.get_future());
  QueryPool pool({.threads = 1, .queue = 1, .patience = net::Millis(30)});
  std::promise<void> started;
  std::vector<Result<std::string>> answers;
  QueryPool::Work slow = [&started, released]() -> Result<std::string> {
    started.set_value();
    released.wait();
    return "late";
  };
  loop.spawn(ask(pool, loop, std::move(slow), 3, answers));
  started.get_future().wait();
  QueryPool::Work quick = []() -> Result<std::string> { return "quick"; };
  loop.spawn(ask(pool, loop, quick, 3, answers));  // waits
  loop.spawn(ask(pool, loop, quick, 3, answers));  // does not fit
  loop.run();
  ASSERT_EQ(answers.size(), 3u);
  EXPECT_NE(answers[0].error().message.find("too many"), std::string::npos);
  for (const std::size_t i : {1, 2}) {
    EXPECT_EQ(answers[i].error().code, ErrorCode::unavailable);
    EXPECT_EQ(answers[i].error().retry_after, "1");
  }
  release.set_value();
}

}  // namespace
}  // namespace callgate::server::query_pool_test
