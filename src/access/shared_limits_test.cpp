#include "access/shared_limits.h"

#include <gtest/gtest.h>

#include "access/settling_gateway_testing.h"
#include "store/postgres_testing.h"

namespace callgate::server::shared_limits_test {
namespace {

using std::chrono::nanoseconds;

class LimitedGateway : public SettlingGateway {
 public:
  using SettlingGateway::SettlingGateway;
  int take_all() {
    int taken = 0;
    while (key().rate.take(nanoseconds(1)).allowed) ++taken;
    return taken;
  }
};

KeyConfig limited() {
  KeyConfig key;
  key.name = "dev";
  key.requests_per_minute = 60;
  key.max_streams = 6;
  return key;
}

TEST(SharedLimits, hold_over_several_gateways) {
  const std::string url = store::shared_postgres().new_store();
  LimitedGateway one(url, "one", limited());
  LimitedGateway two(url, "two", limited());
  LimitedGateway three(url, "three", limited());
  int taken = 0;
  std::vector<std::unique_ptr<ConcurrencySlot>> slots;
  for (int round = 0; round < 10; ++round) {
    for (LimitedGateway* each : {&one, &two, &three}) each->settle();
    for (LimitedGateway* each : {&one, &two, &three}) {
      taken += each->take_all();
      for (int i = 0; i < 10; ++i) {
        auto slot = std::make_unique<ConcurrencySlot>(each->key().streams);
        if (*slot) slots.push_back(std::move(slot));
      }
    }
  }
  EXPECT_GE(taken, 60);
  EXPECT_LE(taken, 63) << "it refills by one a second";
  EXPECT_EQ(slots.size(), 6u);
  slots.clear();
}

TEST(SharedLimits, go_to_the_gateway_that_is_used) {
  const std::string url = store::shared_postgres().new_store();
  LimitedGateway busy(url, "busy", limited());
  LimitedGateway idle(url, "idle", limited());
  int taken = 0;
  for (int round = 0; round < 12; ++round) {
    idle.settle();
    busy.settle();
    taken += busy.take_all();
  }
  EXPECT_GE(taken, 57);
  EXPECT_LE(taken, 63);
}

TEST(RateLimit, takes_what_it_was_given_and_says_when_it_runs_low) {
  RateLimit limit(60);
  limit.share(4, 0, 6, std::chrono::seconds(50));
  const auto first = limit.take(nanoseconds(0));
  EXPECT_TRUE(first.allowed);
  EXPECT_EQ(first.remaining, 9);
  EXPECT_FALSE(first.low);
  EXPECT_TRUE(limit.take(nanoseconds(0)).low);
  EXPECT_EQ(limit.held(), 2);
  limit.share(1, 2, 0, std::chrono::seconds(50));
  EXPECT_TRUE(limit.take(nanoseconds(0)).allowed);
  const auto refused = limit.take(nanoseconds(0));
  EXPECT_FALSE(refused.allowed);
  EXPECT_EQ(refused.retry_after, std::chrono::seconds(1));
  limit.use_part(3);
  int alone = 0;
  while (limit.take(nanoseconds(1)).allowed) ++alone;
  EXPECT_EQ(alone, 20);
}

}  // namespace
}  // namespace callgate::server::shared_limits_test
