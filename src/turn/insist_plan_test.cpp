#include "turn/insist_plan.h"

#include <gtest/gtest.h>

namespace callgate::server::insist_plan_test {
namespace {

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
}  // namespace callgate::server::insist_plan_test
