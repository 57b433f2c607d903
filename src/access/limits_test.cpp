#include "access/limits.h"

#include <gtest/gtest.h>

namespace callgate::server::limits_test {
namespace {

using std::chrono::nanoseconds;
using std::chrono::seconds;

TEST(RateLimit, allows_a_burst_then_one_request_per_interval) {
  RateLimit limit(60);
  const nanoseconds now = seconds(1000);
  for (int i = 0; i < 60; ++i) {
    const auto verdict = limit.take(now);
    EXPECT_TRUE(verdict.allowed);
    EXPECT_EQ(verdict.remaining, 59 - i);
  }
  const auto refused = limit.take(now);
  EXPECT_FALSE(refused.allowed);
  EXPECT_EQ(refused.retry_after, seconds(1));
  EXPECT_EQ(refused.reset, seconds(60));
  EXPECT_TRUE(limit.take(now + seconds(1)).allowed);
  EXPECT_FALSE(limit.take(now + seconds(1)).allowed);
}

TEST(RateLimit, without_a_limit_allows_everything) {
  RateLimit limit(0);
  EXPECT_FALSE(limit.limited());
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(limit.take(seconds(1)).allowed);
}

TEST(ConcurrencyLimit, frees_a_slot_when_its_owner_is_gone) {
  ConcurrencyLimit limit(1);
  {
    ConcurrencySlot first(limit);
    EXPECT_TRUE(first);
    EXPECT_FALSE(ConcurrencySlot(limit));
    EXPECT_EQ(limit.running(), 1);
  }
  EXPECT_TRUE(ConcurrencySlot(limit));
  EXPECT_EQ(limit.running(), 0);
}

TEST(ConcurrencyLimit, takes_another_limit_while_something_runs) {
  ConcurrencyLimit limit(1);
  const ConcurrencySlot first(limit);
  limit.set_limit(2);
  const ConcurrencySlot second(limit);
  EXPECT_TRUE(second);
  EXPECT_TRUE(limit.full());
  limit.set_limit(1);
  EXPECT_FALSE(ConcurrencySlot(limit));
  limit.set_limit(0);
  EXPECT_TRUE(ConcurrencySlot(limit));
  EXPECT_FALSE(limit.full());
}

}  // namespace
}  // namespace callgate::server::limits_test
