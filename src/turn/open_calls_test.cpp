#include <gtest/gtest.h>

#include "turn/turn_record.h"

namespace callgate::server::open_calls_test {
namespace {

// The client of two choices left when the first had ended with its calls.
TEST(TurnRecord, only_calls_of_the_first_choice_are_over_when_it_is) {
  const SecretMask mask({});
  TurnRecord record(mask, 100);
  record.turn_started("r1");
  record.call_started({.choice = 0, .call = 0, .name = "f", .id = "c0"});
  record.call_started({.choice = 1, .call = 0, .name = "g", .id = "c1"});
  record.ended({.reason = FinishReason::tool_calls});
  store::RequestOutcome outcome;
  record.complete(outcome);
  ASSERT_EQ(outcome.call_rows.size(), 2u);
  EXPECT_EQ(outcome.call_rows[0].outcome, CallOutcome::complete);
  EXPECT_EQ(outcome.call_rows[1].outcome, CallOutcome::truncated);
}

}  // namespace
}  // namespace callgate::server::open_calls_test
