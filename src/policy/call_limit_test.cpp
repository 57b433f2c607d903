#include "policy/call_limit.h"

#include "policy/policy_testing.h"

namespace callgate::policy::call_limit_test {
namespace {

TEST(CallLimit, lets_exactly_that_many_calls_pass) {
  Withheld withheld;
  CallLimit stage(2, withheld);
  EXPECT_EQ(
      run(stage, turn({text("a"), call(0, "f", "{}"), text("b"), call(1, "g", "{}"), text("c"),
                       call(2, "h", "{\"x\":1}"), text("d"), call(3, "i", ""), finish_calls()})),
      "text \"a\"\ncall 0 f\nargs 0 {}\nend 0 complete\ntext \"b\"\n"
      "call 1 g\nargs 1 {}\nend 1 complete\ntext \"cd\"\nfinish tool_calls\n");
  EXPECT_EQ(withheld.calls, 2u);
  EXPECT_EQ(withheld.bytes, 7u);
}

TEST(CallLimit, changes_nothing_below_the_limit) {
  Withheld withheld;
  CallLimit stage(2, withheld);
  EXPECT_EQ(run(stage, turn({call(0, "f", "{}"), finish(FinishReason::content_filter)})),
            "call 0 f\nargs 0 {}\nend 0 complete\nfinish content_filter\n");
  EXPECT_EQ(withheld.calls, 0u);
}

TEST(CallLimit, ends_the_turn_for_the_calls_that_passed) {
  Withheld withheld;
  CallLimit stage(1, withheld);
  EXPECT_EQ(run(stage, turn({call(0, "f", "{}"), call(1, "f", "{\"x", CallOutcome::truncated),
                             finish(FinishReason::length)})),
            "call 0 f\nargs 0 {}\nend 0 complete\nfinish tool_calls\n");
}

}  // namespace
}  // namespace callgate::policy::call_limit_test
