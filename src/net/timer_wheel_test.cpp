#include "net/timer_wheel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <random>
#include <vector>

namespace callgate::net::timer_wheel_test {
namespace {

struct Timer {
  Deadline deadline;
  std::function<void()> fire;
  explicit Timer(std::function<void()> callback) : fire(std::move(callback)) {
    deadline.on_expiry([](void* self) { static_cast<Timer*>(self)->fire(); }, this);
  }
};

TEST(TimerWheel, has_no_next_tick_when_empty) {
  TimerWheel wheel;
  EXPECT_FALSE(wheel.next_tick());
  wheel.advance(1'000'000);
  EXPECT_EQ(wheel.now(), 1'000'000u);
}

TEST(TimerWheel, fires_each_deadline_at_its_tick_whatever_the_steps) {
  for (const std::uint64_t step : {1u, 7u, 255u, 256u, 257u, 100'000u}) {
    TimerWheel wheel;
    wheel.advance(12'345);
    std::mt19937 random(7);
    std::vector<std::unique_ptr<Timer>> timers;
    std::size_t fired = 0;
    for (int i = 0; i < 500; ++i) {
      const std::uint64_t tick = wheel.now() + 1 + random() % (i % 2 == 0 ? 300 : 200'000);
      timers.push_back(std::make_unique<Timer>([&wheel, &fired, tick] {
        ++fired;
        EXPECT_EQ(wheel.now(), tick);
      }));
      wheel.arm(timers.back()->deadline, tick);
    }
    while (wheel.now() < 12'345 + 200'000) wheel.advance(wheel.now() + step);
    EXPECT_EQ(fired, timers.size()) << step;
    EXPECT_FALSE(wheel.next_tick());
  }
}

TEST(TimerWheel, forgets_what_is_disarmed_moved_or_destroyed) {
  TimerWheel wheel;
  int fired = 0;
  Timer disarmed([&] { ++fired; });
  Timer moved([&] {
    EXPECT_EQ(wheel.now(), 50u);
    ++fired;
  });
  wheel.arm(disarmed.deadline, 10);
  wheel.arm(moved.deadline, 10);
  wheel.arm(moved.deadline, 50);
  {
    Timer destroyed([&] { ++fired; });
    wheel.arm(destroyed.deadline, 10);
  }
  disarmed.deadline.disarm();
  wheel.advance(100);
  EXPECT_EQ(fired, 1);
}

TEST(TimerWheel, lets_callbacks_arm_and_destroy_others) {
  TimerWheel wheel;
  std::vector<int> order;
  auto victim = std::make_unique<Timer>([&] { order.push_back(99); });
  Timer second([&] { order.push_back(2); });
  Timer first([&] {
    order.push_back(1);
    victim.reset();
    wheel.arm(second.deadline, wheel.now() + 256);
  });
  wheel.arm(first.deadline, 5);
  wheel.arm(victim->deadline, 5);
  wheel.advance(1000);
  EXPECT_THAT(order, testing::ElementsAre(1, 2));
}

TEST(TimerWheel, sleeps_long_when_all_is_far_away) {
  TimerWheel wheel;
  Timer far([] {});
  wheel.arm(far.deadline, 60'000);
  EXPECT_GE(*wheel.next_tick(), 50'000u);
}

}  // namespace
}  // namespace callgate::net::timer_wheel_test
