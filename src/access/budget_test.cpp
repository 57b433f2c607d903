#include "access/budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "access/settling_gateway_testing.h"
#include "net/unix_time.h"
#include "store/postgres_testing.h"
#include "store/scratch_testing.h"

namespace callgate::server::budget_test {
namespace {

using State = Budget::State;
using std::chrono::milliseconds;
using store::BudgetKind;
using testing::HasSubstr;

constexpr std::int64_t kNow = 1'800'000'000'000;

class BudgetGateway : public SettlingGateway {
 public:
  using SettlingGateway::SettlingGateway;
  void settle() { settle_budgets(); }
  Budget& budget() { return *key().budgets.front(); }
  // Now, by the clock that the store goes by.
  State state() { return budget().state(net::unix_ms()); }
  // A stream that says `most` tokens at most, one at a time, for as long as it may.
  int say(int most) {
    int said = 0;
    while (said < most && state() == State::free) {
      budget().spend(1);
      ++said;
    }
    return said;
  }
};

KeyConfig with_tokens(std::int64_t per_day) {
  KeyConfig key;
  key.name = "dev";
  key.tokens_per_day = per_day;
  return key;
}

TEST(Budget, waits_until_the_store_allows_something) {
  Budget budget(BudgetKind::tokens_per_day, 100);
  EXPECT_EQ(budget.state(kNow), State::waits);
  budget.enter();
  store::BudgetUse use = budget.use("dev");
  EXPECT_TRUE(use.wants);
  budget.settle(use, {.given = 10, .spent = 0, .ends_at = kNow + 60'000});
  EXPECT_EQ(budget.state(kNow), State::free);
  budget.spend(4);
  EXPECT_FALSE(budget.is_low());
  budget.spend(1);
  EXPECT_TRUE(budget.is_low());
  budget.spend(5);
  EXPECT_EQ(budget.state(kNow), State::waits);
  use = budget.use("dev");
  EXPECT_EQ(use.spent, 10);
  budget.spend(2);  // meanwhile
  budget.settle(use, {.given = 5, .spent = 10, .ends_at = kNow + 60'000});
  EXPECT_EQ(budget.use("dev").spent, 2);
  budget.spend(3);
  EXPECT_EQ(budget.state(kNow), State::waits) << "what came meanwhile counts";
  budget.settle(budget.use("dev"), {.given = 0, .spent = 100, .ends_at = kNow + 60'000});
  EXPECT_EQ(budget.state(kNow), State::used_up);
  EXPECT_EQ(budget.state(kNow + 60'000), State::waits) << "a new day";
}

TEST(Budget, says_which_one_is_used_up_and_until_when) {
  Budget tokens(BudgetKind::tokens_per_day, 10'000);
  tokens.settle(tokens.use("dev"), {.given = 0, .spent = 10'000, .ends_at = kNow + 90'000});
  const Error error = tokens.error("dev", kNow);
  EXPECT_EQ(error.code, ErrorCode::rate_limited);
  EXPECT_EQ(error.upstream_code, "insufficient_quota");
  EXPECT_EQ(error.retry_after, "90");
  EXPECT_THAT(error.message, HasSubstr("10000 tokens per day is used up for key \"dev\""));
  Budget money(BudgetKind::cost_per_month, 12'500'000'000);
  EXPECT_TRUE(money.in_money());
  EXPECT_THAT(money.error("dev", kNow).message, HasSubstr("the budget of 12.5 per month"));
}

TEST(Budget, says_how_long_it_takes_in_minutes_hours_or_days) {
  constexpr std::int64_t kMinute = 60'000;
  const std::pair<std::int64_t, std::string_view> rows[] = {
      {0, "1 min"},
      {kMinute, "1 min"},
      {kMinute + 1, "2 min"},
      {119 * kMinute, "119 min"},
      {120 * kMinute, "2 h"},
      {120 * kMinute + 1, "3 h"},
      {71 * 60 * kMinute, "71 h"},
      {72 * 60 * kMinute, "3 days"},
      {73 * 60 * kMinute, "4 days"},
  };
  for (const auto& [wait, words] : rows) {
    Budget budget(BudgetKind::tokens_per_day, 1);
    budget.settle(budget.use("dev"), {.given = 0, .spent = 1, .ends_at = kNow + wait});
    EXPECT_TRUE(budget.error("dev", kNow).message.ends_with("in " + std::string(words)))
        << budget.error("dev", kNow).message;
  }
}

TEST(Budget, holds_over_several_gateways) {
  const std::string url = store::shared_postgres().new_store();
  BudgetGateway one(url, "one", with_tokens(10'000));
  BudgetGateway two(url, "two", with_tokens(10'000));
  BudgetGateway three(url, "three", with_tokens(10'000));
  BudgetGateway* const all[] = {&one, &two, &three};
  for (BudgetGateway* each : all) each->budget().enter();
  int said = 0;
  int rounds = 0;
  for (; rounds < 200 && one.state() != State::used_up; ++rounds) {
    for (BudgetGateway* each : all) {
      each->settle();
      said += each->say(900);
    }
  }
  EXPECT_EQ(said, 10'000);
  for (BudgetGateway* each : all) {
    each->settle();
    EXPECT_EQ(each->state(), State::used_up);
  }
}

TEST(Budget, is_not_held_by_gateways_that_are_idle_or_dead) {
  const std::string url = store::shared_postgres().new_store();
  BudgetGateway busy(url, "busy", with_tokens(1'000));
  BudgetGateway idle(url, "idle", with_tokens(1'000));
  BudgetGateway dead(url, "dead", with_tokens(1'000));
  idle.budget().enter();
  idle.settle();
  idle.budget().leave();
  dead.budget().enter();
  dead.settle();
  ASSERT_TRUE(dead.nodes().beat(milliseconds(-1)));
  idle.settle();
  busy.budget().enter();
  int said = 0;
  for (int round = 0; round < 100; ++round) {
    busy.settle();
    said += busy.say(1'000);
  }
  EXPECT_EQ(said, 1'000);
}

TEST(Budget, survives_a_restart) {
  const store::ScratchFolder scratch;
  {
    BudgetGateway before(scratch.url(), "before", with_tokens(100));
    before.budget().enter();
    before.settle();
    EXPECT_EQ(before.say(60), 60);
    before.settle();
    ASSERT_TRUE(before.nodes().leave());
  }
  BudgetGateway after(scratch.url(), "after", with_tokens(100));
  after.budget().enter();
  int said = 0;
  for (int round = 0; round < 20; ++round) {
    after.settle();
    said += after.say(100);
  }
  EXPECT_EQ(said, 40);
}

TEST(BudgetSpan, is_a_day_or_a_month_of_utc) {
  // 2027-01-15T08:00Z
  const auto day = store::budget_span(BudgetKind::cost_per_day, kNow);
  EXPECT_EQ(day.begins, 1'799'971'200'000);
  EXPECT_EQ(day.ends, day.begins + 86'400'000);
  const auto month = store::budget_span(BudgetKind::tokens_per_month, kNow);
  EXPECT_EQ(month.begins, 1'798'761'600'000);  // 2027-01-01
  EXPECT_EQ(month.ends, 1'801'440'000'000);    // 2027-02-01
}

TEST(RateLimit, takes_and_gives_back_amounts) {
  using std::chrono::seconds;
  RateLimit limit(600);
  EXPECT_TRUE(limit.take(seconds(1), 500).allowed);
  const auto refused = limit.take(seconds(1), 200);
  EXPECT_FALSE(refused.allowed);
  EXPECT_EQ(refused.retry_after, seconds(10));
  limit.charge(seconds(1), -400);
  EXPECT_EQ(limit.take(seconds(1), 200).remaining, 300);
  limit.charge(seconds(1), 600);
  EXPECT_FALSE(limit.take(seconds(1), 1).allowed) << "in debt";
  EXPECT_TRUE(limit.take(seconds(32), 1).allowed);
}

TEST(RateLimit, of_several_gateways_may_be_overdrawn_once) {
  RateLimit limit(600);
  limit.share(100, 0, 200, std::chrono::seconds(50));
  EXPECT_TRUE(limit.take(std::chrono::nanoseconds(0), 150).allowed);
  EXPECT_EQ(limit.held(), -50);
  EXPECT_FALSE(limit.take(std::chrono::nanoseconds(0), 1).allowed);
  limit.share(80, -50, 0, std::chrono::seconds(50));
  EXPECT_EQ(limit.held(), 80);
}

}  // namespace
}  // namespace callgate::server::budget_test
