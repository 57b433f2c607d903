#include "net/loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/companion.h"
#include "net/net_testing.h"

namespace callgate::net::loop_test {
namespace {

Task<int> plus_one(int number) { co_return number + 1; }

Task<> fail_later(Loop& loop) {
  co_await loop.sleep(Millis(1));
  throw std::runtime_error("thrown");
}

TEST(Task, gives_its_value) {
  Loop loop;
  int result = 0;
  run_to_end(loop,
             [](int& out) -> Task<> { out = co_await plus_one(co_await plus_one(1)); }(result));
  EXPECT_EQ(result, 3);
}

TEST(Task, needs_no_stack_for_a_loop_of_tasks_that_end_at_once) {
  Loop loop;
  int sum = 0;
  run_to_end(loop, [](int& out) -> Task<> {
    for (int i = 0; i < 1'000'000; ++i) out = co_await plus_one(out);
  }(sum));
  EXPECT_EQ(sum, 1'000'000);
}

TEST(Task, throws_into_its_awaiter) {
  Loop loop;
  bool caught = false;
  run_to_end(loop, [](Loop& on, bool& flag) -> Task<> {
    try {
      co_await fail_later(on);
    } catch (const std::runtime_error&) {
      flag = true;
    }
  }(loop, caught));
  EXPECT_TRUE(caught);
}

TEST(Loop, reports_what_a_spawned_task_throws) {
  Loop loop;
  std::string reported;
  loop.set_fault_log([&](std::string_view what) {
    reported = what;
    loop.stop();
  });
  loop.spawn(fail_later(loop));
  loop.run();
  EXPECT_EQ(reported, "thrown");
}

TEST(Loop, ends_the_wait_for_a_task_that_throws) {
  Loop loop;
  std::vector<std::string> happened;
  loop.set_fault_log([&](std::string_view what) {
    happened.emplace_back(what);
    loop.stop();
  });
  const auto end_well = [](Loop& on) -> Task<> { co_await on.sleep(Millis(0)); };
  loop.spawn(watched(end_well(loop), [&] { happened.emplace_back("it ended well"); }));
  loop.spawn(watched(fail_later(loop), [&] { happened.emplace_back("ended the wait"); }));
  loop.run();
  EXPECT_EQ(happened, (std::vector<std::string>{"ended the wait", "thrown"}));
}

TEST(Loop, goes_on_after_posted_work_that_throws) {
  Loop loop;
  std::string reported;
  loop.set_fault_log([&](std::string_view what) { reported = what; });
  loop.post([] { throw std::runtime_error("posted"); });
  loop.post([&] { loop.stop(); });
  loop.run();
  EXPECT_EQ(reported, "posted");
}

TEST(Loop, destroys_tasks_that_still_wait) {
  bool destroyed = false;
  {
    Loop loop;
    loop.spawn([](Loop& on, bool& flag) -> Task<> {
      struct Probe {
        bool& gone;
        ~Probe() { gone = true; }
      } probe{flag};
      co_await on.sleep(Millis(1'000'000));
    }(loop, destroyed));
    EXPECT_FALSE(destroyed);
  }
  EXPECT_TRUE(destroyed);
}

TEST(Loop, sleeps_at_least_as_long_as_asked_and_in_order) {
  Loop loop;
  std::vector<int> order;
  const auto sleeper = [](Loop& on, std::vector<int>& out, int milliseconds) -> Task<> {
    const auto start = std::chrono::steady_clock::now();
    co_await on.sleep(Millis(milliseconds));
    EXPECT_GE(std::chrono::steady_clock::now() - start, Millis(milliseconds));
    out.push_back(milliseconds);
    if (out.size() == 4) on.stop();
  };
  for (const int milliseconds : {30, 0, 300, 3}) loop.spawn(sleeper(loop, order, milliseconds));
  loop.run();
  EXPECT_THAT(order, testing::ElementsAre(0, 3, 30, 300));
}

TEST(Loop, runs_posted_work_from_many_threads) {
  LoopGroup group(2);
  group.start();
  std::array<int, 2> counts{};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) {
        const std::size_t which = static_cast<std::size_t>(i % 2);
        group[which].post([&counts, which] { ++counts[which]; });
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < 2; ++i) {
    std::promise<void> done;
    group[i].post([&] { done.set_value(); });
    done.get_future().get();
  }
  group.stop();
  group.join();
  EXPECT_THAT(counts, testing::ElementsAre(2000, 2000));
}

TEST(Loop, calls_back_for_a_signal) {
  Loop loop;
  int calls = 0;
  loop.on_signal(SIGUSR1, [&] {
    if (++calls == 2) return loop.stop();
    ::raise(SIGUSR1);
  });
  loop.post([] { ::raise(SIGUSR1); });
  loop.run();
  EXPECT_EQ(calls, 2);
}

TEST(Loop, hears_of_a_signal_on_each_loop_that_asked_and_frees_it_afterwards) {
  std::atomic<int> calls = 0;
  {
    LoopGroup group(2);
    for (std::size_t i = 0; i < 2; ++i) group[i].on_signal(SIGUSR2, [&] { ++calls; });
    group.start();
    ::kill(::getpid(), SIGUSR2);
    for (int i = 0; i < 10'000 && calls < 2; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  EXPECT_EQ(calls, 2);
  struct sigaction now {};
  ::sigaction(SIGUSR2, nullptr, &now);
  EXPECT_EQ(now.sa_handler, SIG_DFL);
}

// Each wakes the other just as that one goes to sleep.
TEST(Loop, loses_no_wake_up) {
  constexpr int kTurns = 20'000;
  LoopGroup group(2);
  std::promise<void> done;
  int turns = 0;
  std::function<void()> pass = [&] {
    if (++turns == kTurns) return done.set_value();
    group[static_cast<std::size_t>(turns % 2)].post(pass);
  };
  group.start();
  group[0].post(pass);
  ASSERT_EQ(done.get_future().wait_for(std::chrono::seconds(60)), std::future_status::ready);
  group.stop();
  group.join();
  EXPECT_EQ(turns, kTurns);
}

TEST(Loop, stops_though_it_sleeps_and_runs_again) {
  Loop loop;
  for (int i = 0; i < 100; ++i) {
    std::thread stopper([&] { loop.stop(); });
    loop.run();
    stopper.join();
  }
  bool ran = false;
  loop.post([&] {
    ran = true;
    loop.stop();
  });
  loop.run();
  EXPECT_TRUE(ran);
}

TEST(Signal, wakes_its_waiter_or_the_next_one) {
  Loop loop;
  Signal signal(loop);
  std::vector<bool> results;
  loop.spawn([](Signal& on, Loop& stop, std::vector<bool>& out) -> Task<> {
    out.push_back(co_await on.wait());           // notified while waiting
    out.push_back(co_await on.wait(Millis(1)));  // not notified
    on.notify();
    out.push_back(co_await on.wait());  // notified before
    stop.stop();
  }(signal, loop, results));
  loop.post([&] { signal.notify(); });
  loop.run();
  EXPECT_THAT(results, testing::ElementsAre(true, false, true));
}

}  // namespace
}  // namespace callgate::net::loop_test
