#include <gtest/gtest.h>

#include "dial/pool/first_tokens.h"
#include "dial/pool/minute_limit.h"
#include "dial/pool/retry_budget.h"

namespace callgate::server::limits_test {
namespace {

TEST(MinuteLimit, allows_a_burst_and_then_one_at_a_time) {
  MinuteLimit limit;
  limit.set(60, 0);
  for (int i = 0; i < 60; ++i) {
    EXPECT_EQ(limit.free_at(1, 100), 100u);
    limit.take(1, 100);
  }
  EXPECT_EQ(limit.free_at(1, 100), 1'100u);
  EXPECT_EQ(limit.free_at(1, 1'100), 1'100u);
}

TEST(MinuteLimit, is_corrected_when_the_real_number_is_known) {
  MinuteLimit limit;
  limit.set(6'000, 0);
  limit.take(6'000, 0);
  EXPECT_EQ(limit.free_at(100, 0), 1'000u);
  limit.correct(6'000, 1'000, 0);
  EXPECT_EQ(limit.free_at(100, 0), 0u);
  EXPECT_EQ(limit.free_at(5'000, 0), 0u);
  EXPECT_GT(limit.free_at(5'001, 0), 0u);
  limit.correct(0, 11'000, 0);
  EXPECT_GT(limit.free_at(1, 0), 60'000u) << "more than was there is paid back";
}

TEST(MinuteLimit, lets_in_what_is_larger_than_a_whole_minute) {
  MinuteLimit limit;
  limit.set(100, 0);
  EXPECT_EQ(limit.free_at(1'000, 0), 0u);
}

TEST(MinuteLimit, is_none_when_it_is_zero) {
  MinuteLimit limit;
  limit.take(1'000, 0);
  EXPECT_EQ(limit.free_at(1'000, 5), 5u);
}

TEST(RetryBudget, follows_the_requests) {
  RetryBudget budget;
  budget.set_percent(20);
  int taken = 0;
  while (budget.take(1'000)) ++taken;
  EXPECT_EQ(taken, 100);
  for (int i = 0; i < 50; ++i) budget.add_request();
  taken = 0;
  while (budget.take(1'000)) ++taken;
  EXPECT_NEAR(taken, 10, 1);
}

TEST(RetryBudget, always_allows_a_few) {
  RetryBudget budget;
  while (budget.take(1'000)) {
  }
  EXPECT_FALSE(budget.take(1'500));
  EXPECT_TRUE(budget.take(2'500));
  budget.set_percent(0);
  for (int i = 0; i < 1'000; ++i) EXPECT_TRUE(budget.take(2'500));
}

TEST(FirstTokens, judges_by_the_shortest_of_the_last_ones) {
  FirstTokens tokens;
  tokens.add(500);
  tokens.add(400);
  EXPECT_FALSE(tokens.least()) << "two are not enough";
  tokens.add(900);
  EXPECT_EQ(tokens.least(), 400u);
  tokens.add(20);
  EXPECT_EQ(tokens.least(), 20u);
  for (int i = 0; i < 8; ++i) tokens.add(700);
  EXPECT_EQ(tokens.least(), 700u);
  EXPECT_NEAR(*tokens.average(), 700, 50);
}

}  // namespace
}  // namespace callgate::server::limits_test
