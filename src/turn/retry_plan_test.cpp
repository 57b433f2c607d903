#include "turn/retry_plan.h"

#include <gtest/gtest.h>

#include "base/memory_budget.h"

namespace callgate::server {
namespace {

const Error kBusy{.code = ErrorCode::unavailable, .message = "busy", .status = 503};
const Error kWrong{.code = ErrorCode::invalid_request, .message = "wrong", .status = 400};
const Error kRefused{.code = ErrorCode::upstream_failed, .message = "key", .status = 401};

Error limited(std::string seconds) {
  return {.code = ErrorCode::rate_limited, .status = 429, .retry_after = std::move(seconds)};
}

class RetryPlanTest : public testing::Test {
 protected:
  RetryPlanTest() {
    model_.retries = 2;
    model_.retry_backoff = Milliseconds(100);
  }

  RetryPlan plan(std::vector<std::string> upstreams, std::size_t first = 0) {
    model_.upstream = std::move(upstreams);
    return RetryPlan(model_, first);
  }
  std::optional<Milliseconds> after(RetryPlan& plan, const Error& error, std::uint64_t now = 1000) {
    return plan.after({error}, now, mint_);
  }

  ModelConfig model_;
  IdMint mint_{1};
};

TEST_F(RetryPlanTest, asks_the_only_upstream_again_after_growing_pauses) {
  RetryPlan only = plan({"a"});
  const auto first = after(only, kBusy);
  ASSERT_TRUE(first);
  EXPECT_GE(first->count(), 50);
  EXPECT_LE(first->count(), 150);
  const auto second = after(only, kBusy);
  ASSERT_TRUE(second);
  EXPECT_GE(second->count(), 100);
  EXPECT_LE(second->count(), 300);
  EXPECT_FALSE(after(only, kBusy)) << "two retries were allowed";
}

TEST_F(RetryPlanTest, asks_every_upstream_once_whatever_retries_are_left) {
  model_.retries = 0;
  RetryPlan all = plan({"a", "b", "c", "d"});
  for (std::size_t next = 1; next < 4; ++next) {
    EXPECT_EQ(after(all, kBusy), Milliseconds(0));
    EXPECT_EQ(all.upstream(), next);
  }
  EXPECT_FALSE(after(all, kBusy));
}

TEST_F(RetryPlanTest, begins_where_it_is_told_to) {
  RetryPlan all = plan({"a", "b"}, 1);
  EXPECT_EQ(all.upstream(), 1u);
  EXPECT_EQ(after(all, kBusy), Milliseconds(0));
  EXPECT_EQ(all.upstream(), 0u);
}

TEST_F(RetryPlanTest, ends_with_a_request_that_is_wrong) {
  RetryPlan all = plan({"a", "b"});
  EXPECT_FALSE(after(all, kWrong));
}

TEST_F(RetryPlanTest, tries_elsewhere_what_an_upstream_cannot_be_asked) {
  RetryPlan all = plan({"a", "b"});
  EXPECT_EQ(all.after({.error = kWrong, .asked = false}, 1000, mint_), Milliseconds(0));
  EXPECT_EQ(all.upstream(), 1u);
  const auto again = after(all, kBusy);
  EXPECT_TRUE(again);
  EXPECT_EQ(all.upstream(), 1u) << "the first one still cannot be asked";
}

TEST_F(RetryPlanTest, asks_an_upstream_that_refused_the_key_no_more) {
  RetryPlan all = plan({"a", "b"});
  EXPECT_EQ(after(all, kBusy), Milliseconds(0));
  EXPECT_TRUE(after(all, kRefused));
  EXPECT_EQ(all.upstream(), 0u);
  EXPECT_TRUE(after(all, kBusy));
  EXPECT_EQ(all.upstream(), 0u);
  RetryPlan only = plan({"a"});
  EXPECT_FALSE(after(only, kRefused));
}

TEST_F(RetryPlanTest, does_not_ask_an_upstream_before_the_time_that_it_named) {
  RetryPlan all = plan({"a", "b"});
  EXPECT_EQ(after(all, limited("60")), Milliseconds(0));
  for (int i = 0; i < 2; ++i) {
    const auto pause = after(all, kBusy);
    ASSERT_TRUE(pause);
    EXPECT_LT(pause->count(), 1000);
    EXPECT_EQ(all.upstream(), 1u);
  }
  EXPECT_FALSE(after(all, kBusy));
}

TEST_F(RetryPlanTest, waits_for_the_time_that_the_only_upstream_named) {
  RetryPlan soon = plan({"a"});
  EXPECT_EQ(after(soon, limited("3")), Milliseconds(3000));
  RetryPlan late = plan({"a"});
  EXPECT_FALSE(after(late, limited("60")));
  for (const char* far :
       {"4294967297", "9999999999", "18446744073709551616", "99999999999999999999999"}) {
    RetryPlan saturated = plan({"a"});
    EXPECT_FALSE(after(saturated, limited(far))) << far;
  }
  RetryPlan date = plan({"a"});
  const auto pause = after(date, limited("Mon, 16 Nov 2026 17:00:00 GMT"));
  ASSERT_TRUE(pause);
  EXPECT_LE(pause->count(), 150);
}

TEST_F(RetryPlanTest, counts_the_time_that_has_passed_since) {
  RetryPlan all = plan({"a", "b"});
  EXPECT_EQ(after(all, limited("60"), 1'000), Milliseconds(0));
  EXPECT_EQ(after(all, limited("90"), 55'000), Milliseconds(6'000));
  EXPECT_EQ(all.upstream(), 0u);
}

TEST(Remedy, is_nothing_for_a_turn_that_was_too_much_for_the_gateway) {
  EXPECT_EQ(remedy_for(out_of_memory()), Remedy::none);
}

TEST(Remedy, is_time_for_what_the_world_does_and_another_upstream_for_what_this_one_refuses) {
  EXPECT_EQ(remedy_for({.code = ErrorCode::upstream_failed}), Remedy::later);
  EXPECT_EQ(remedy_for({.code = ErrorCode::timed_out}), Remedy::later);
  EXPECT_EQ(remedy_for({.code = ErrorCode::rate_limited, .status = 429}), Remedy::later);
  EXPECT_EQ(
      remedy_for(
          {.code = ErrorCode::rate_limited, .upstream_code = "insufficient_quota", .status = 429}),
      Remedy::elsewhere);
  EXPECT_EQ(remedy_for({.code = ErrorCode::upstream_failed, .status = 401}), Remedy::elsewhere);
  EXPECT_EQ(remedy_for({.code = ErrorCode::forbidden, .status = 403}), Remedy::elsewhere);
  EXPECT_EQ(remedy_for({.code = ErrorCode::not_found, .status = 404}), Remedy::elsewhere);
  for (const char* lasting :
       {"unsupported_content_encoding", "content_encoding_ratio", "certificate_refused"}) {
    EXPECT_EQ(remedy_for({.code = ErrorCode::upstream_failed, .upstream_code = lasting}),
              Remedy::elsewhere);
  }
  EXPECT_EQ(remedy_for({.code = ErrorCode::invalid_request, .status = 400}), Remedy::none);
  EXPECT_EQ(remedy_for({.code = ErrorCode::conflict, .upstream_code = "conversation_busy"}),
            Remedy::none);
}

TEST(InsistPlan, holds_turns_of_models_that_were_asked_for_a_call_in_words) {
  using Mode = ToolChoice::Mode;
  for (const Mode mode : {Mode::required, Mode::named}) {
    EXPECT_TRUE(InsistPlan({.mode = mode}).holds(true));
    EXPECT_FALSE(InsistPlan({.mode = mode}).holds(false));
  }
  for (const Mode mode : {Mode::automatic, Mode::none}) {
    EXPECT_FALSE(InsistPlan({.mode = mode}).holds(true));
  }
}

TEST(InsistPlan, throws_one_turn_away) {
  InsistPlan plan({.mode = ToolChoice::Mode::required});
  EXPECT_FALSE(plan.insisted());
  plan.insist();
  EXPECT_TRUE(plan.insisted());
  EXPECT_TRUE(plan.holds(true)) << "whether the answer has a call is known before it leaves";
}

}  // namespace
}  // namespace callgate::server
