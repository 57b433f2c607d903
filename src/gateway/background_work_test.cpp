#include "gateway/background_work.h"

#include <gtest/gtest.h>

#include <atomic>
#include <semaphore>

namespace callgate::server::background_work_test {
namespace {

TEST(BackgroundWork, does_not_let_the_caller_wait) {
  std::binary_semaphore go(0);
  std::binary_semaphore done(0);
  const auto caller = std::this_thread::get_id();
  BackgroundWork work([&] {
    go.acquire();
    EXPECT_NE(std::this_thread::get_id(), caller);
    done.release();
  });
  work.request();
  go.release();
  done.acquire();
}

TEST(BackgroundWork, runs_once_more_after_requests_that_came_during_a_run) {
  std::counting_semaphore<8> began(0);
  std::counting_semaphore<8> go(0);
  std::atomic<int> running{0};
  std::atomic<int> runs{0};
  {
    BackgroundWork work([&] {
      EXPECT_EQ(running.fetch_add(1), 0);
      ++runs;
      began.release();
      go.acquire();
      --running;
    });
    work.request();
    began.acquire();
    for (int i = 0; i < 5; ++i) work.request();
    go.release();
    began.acquire();
    go.release();
  }
  EXPECT_EQ(runs, 2);
}

TEST(BackgroundWork, waits_for_a_run_that_has_begun) {
  std::binary_semaphore began(0);
  std::atomic<bool> ended{false};
  {
    BackgroundWork work([&] {
      began.release();
      std::this_thread::yield();
      ended = true;
    });
    work.request();
    began.acquire();
  }
  EXPECT_TRUE(ended);
}

}  // namespace
}  // namespace callgate::server::background_work_test
