#include "policy/error_after_tools.h"

#include "policy/policy_testing.h"

namespace callgate::policy::error_after_tools_test {
namespace {

std::string end_of(const std::vector<Event>& events) {
  ErrorAfterToolCalls stage;
  const std::string printed = run(stage, events);
  return printed.substr(printed.rfind("finish"));
}

TEST(ErrorAfterTools, ends_a_failed_turn_with_its_complete_calls) {
  const auto failed = finish(FinishReason::upstream_error);
  EXPECT_EQ(end_of(turn({call(0, "f", "{}"), call(1, "g", "{}"), text("more"), failed})),
            "finish tool_calls\n");
}

TEST(ErrorAfterTools, leaves_the_failure_where_a_call_was_cut_or_there_is_none) {
  const auto failed = finish(FinishReason::upstream_error);
  EXPECT_EQ(end_of(turn({text("a"), failed})), "finish upstream_error\n");
  EXPECT_EQ(
      end_of(turn({call(0, "f", "{}"), call(1, "g", "{\"a", CallOutcome::truncated), failed})),
      "finish upstream_error\n");
}

TEST(ErrorAfterTools, changes_no_other_end) {
  EXPECT_EQ(end_of(turn({call(0, "f", "{}"), finish(FinishReason::length)})), "finish length\n");
}

}  // namespace
}  // namespace callgate::policy::error_after_tools_test
