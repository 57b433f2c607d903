#include "base/memory_budget.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace callgate::memory_budget_test {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

TEST(MemoryBudget, refuses_copies_first_then_large_things_then_small_ones) {
  MemoryBudget budget(80 * kMiB);
  Reservation copies(&budget, MemoryUse::copy);
  EXPECT_TRUE(copies.resize(50 * kMiB));
  EXPECT_FALSE(copies.resize(50 * kMiB + 1));
  EXPECT_EQ(copies.bytes(), 50 * kMiB);
  Reservation large(&budget, MemoryUse::need);
  EXPECT_TRUE(large.resize(20 * kMiB));
  EXPECT_FALSE(large.resize(20 * kMiB + 1));
  std::vector<Reservation> small;
  for (int i = 0; i < 10; ++i) {
    small.emplace_back(&budget, MemoryUse::need);
    EXPECT_TRUE(small.back().resize(kMiB)) << i;
  }
  Reservation last(&budget, MemoryUse::need);
  EXPECT_FALSE(last.resize(1));
  EXPECT_EQ(budget.used(), budget.limit());
  EXPECT_EQ(budget.shed(), 1u);
  EXPECT_EQ(budget.refused(), 2u);
  copies.release();
  EXPECT_TRUE(last.resize(1));
}

TEST(MemoryBudget, without_a_limit_counts_only) {
  MemoryBudget budget;
  Reservation all(&budget, MemoryUse::copy);
  EXPECT_TRUE(all.resize(std::uint64_t{1} << 50));
  EXPECT_EQ(budget.used(), std::uint64_t{1} << 50);
  Reservation none;
  EXPECT_TRUE(none.resize(std::uint64_t{1} << 50));
}

TEST(MemoryBudget, a_lower_limit_leaves_what_is_held) {
  MemoryBudget budget(8 * kMiB);
  Reservation held(&budget, MemoryUse::need);
  EXPECT_TRUE(held.resize(kMiB));
  budget.set_limit(kMiB / 2);
  EXPECT_FALSE(held.resize(kMiB + 1));
  EXPECT_TRUE(held.resize(kMiB / 4));
  EXPECT_TRUE(held.resize(kMiB / 2));
}

TEST(Reservation, gives_back_what_it_holds_wherever_it_goes) {
  MemoryBudget budget(8 * kMiB);
  {
    Reservation first(&budget, MemoryUse::need);
    EXPECT_TRUE(first.grow_to(1));
    EXPECT_EQ(budget.used(), 16u << 10);
    EXPECT_TRUE(first.grow_to(2));
    EXPECT_EQ(budget.used(), 16u << 10);
    Reservation second(std::move(first));
    EXPECT_EQ(budget.used(), 16u << 10);
    Reservation third(&budget, MemoryUse::need);
    EXPECT_TRUE(third.resize(100));
    third = std::move(second);
    EXPECT_EQ(budget.used(), (16u << 10) + 100);
  }
  EXPECT_EQ(budget.used(), 0u);
}

TEST(MemoryBudget, counts_right_from_many_threads) {
  MemoryBudget budget(8 * kMiB);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&budget] {
      for (int round = 0; round < 10'000; ++round) {
        Reservation held(&budget, MemoryUse::need);
        (void)held.resize(3 * kMiB);
        EXPECT_LE(held.bytes(), 8 * kMiB);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(budget.used(), 0u);
}

}  // namespace
}  // namespace callgate::memory_budget_test
