#include "policy/stop_after_tools.h"

#include "policy/policy_testing.h"

namespace callgate::policy::stop_after_tools_test {
namespace {

const std::vector<Event> kUsage{UsageReported{Usage{.total_tokens = 3}}};

TEST(StopAfterTools, cuts_at_the_first_finished_call_and_counts_what_comes_later) {
  Withheld withheld;
  StopAfterToolCalls stage(StopAfterTools::first, true, withheld);
  EXPECT_EQ(run(stage, turn({text("a"), call(0, "f", "{}"), text("tail"), reasoning("r"),
                             call(1, "g", "{\"x\":1}"), kUsage, finish_calls()})),
            "text \"a\"\ncall 0 f\nargs 0 {}\nend 0 complete\nfinish tool_calls\n");
  EXPECT_TRUE(stage.is_cut());
  EXPECT_EQ(withheld.calls, 1u);
  EXPECT_EQ(withheld.bytes, 12u);
}

TEST(StopAfterTools, lets_a_whole_answer_keep_its_usage) {
  Withheld withheld;
  StopAfterToolCalls stage(StopAfterTools::first, false, withheld);
  EXPECT_EQ(run(stage, turn({call(0, "f", "{}"), text("tail"), call(1, "g", ""), kUsage,
                             finish(FinishReason::length)})),
            "call 0 f\nargs 0 {}\nend 0 complete\nusage prompt=0 completion=0 total=3\n"
            "finish tool_calls\n");
  EXPECT_EQ(withheld.calls, 1u);
}

TEST(StopAfterTools, leaves_the_reason_to_a_turn_that_ended_inside_a_call) {
  Withheld withheld;
  StopAfterToolCalls stage(StopAfterTools::first, true, withheld);
  EXPECT_EQ(run(stage,
                turn({call(0, "f", "{\"a", CallOutcome::truncated), finish(FinishReason::length)})),
            "call 0 f\nargs 0 {\"a\nend 0 truncated\nfinish length\n");
  EXPECT_FALSE(stage.is_cut());
}

TEST(StopAfterTools, runs_a_grace_period_after_each_call_of_a_burst) {
  Withheld withheld;
  StopAfterToolCalls stage(StopAfterTools::burst, true, withheld);
  GrammarLog log;
  EXPECT_EQ(stage.grace(), std::nullopt);
  for (const Event& event : call(0, "f", "{}")) stage.push(event, log);
  EXPECT_EQ(stage.grace(), 1u);
  stage.push(TextDelta{"x"}, log);
  EXPECT_EQ(stage.grace(), 1u);
  stage.push(CallStarted{1, "g", ""}, log);
  EXPECT_EQ(stage.grace(), std::nullopt) << "an open call is waited for";
  stage.push(ArgumentsDelta{1, "{\"x\":{}"}, log);
  EXPECT_EQ(stage.grace(), std::nullopt);
  stage.push(ArgumentsDelta{1, "}"}, log);
  EXPECT_EQ(stage.grace(), 2u) << "its value is whole";
  stage.push(CallFinished{1, CallOutcome::complete}, log);
  EXPECT_EQ(stage.grace(), 2u);
  stage.cut(log);
  EXPECT_EQ(stage.grace(), std::nullopt);
  EXPECT_TRUE(stage.is_cut());
  stage.push(TextDelta{"late"}, log);
  EXPECT_EQ(log.print(),
            "call 0 f\nargs 0 {}\nend 0 complete\ntext \"x\"\ncall 1 g\nargs 1 {\"x\":{}}\nend 1 "
            "complete\n"
            "finish tool_calls\n");
  EXPECT_EQ(withheld.bytes, 4u);
}

TEST(StopAfterTools, does_not_wait_for_an_upstream_to_say_that_a_call_is_over) {
  Withheld withheld;
  StopAfterToolCalls first(StopAfterTools::first, true, withheld);
  EXPECT_EQ(run(first, {CallStarted{0, "f", ""}, ArgumentsDelta{0, "{\"a\":"},
                        ArgumentsDelta{0, "1} more"}}),
            "call 0 f\nargs 0 {\"a\":1}\nend 0 complete\nfinish tool_calls\n");
  EXPECT_EQ(withheld.bytes, 5u);

  StopAfterToolCalls burst(StopAfterTools::burst, true, withheld);
  GrammarLog log;
  burst.push(CallStarted{0, "f", ""}, log);
  burst.push(ArgumentsDelta{0, "{\"a\":\"\n\"}"}, log);
  burst.cut(log);
  EXPECT_EQ(log.print(),
            "call 0 f\nargs 0 \"{\\\"a\\\":\\\"\\n\\\"}\"\nend 0 malformed\n"
            "finish tool_calls\n");
}

TEST(StopAfterTools, cuts_after_a_call_without_arguments) {
  Withheld withheld;
  StopAfterToolCalls stage(StopAfterTools::first, true, withheld);
  EXPECT_EQ(run(stage, turn({call(0, "f", ""), text("x"), finish_calls()})),
            "call 0 f\nend 0 complete\nfinish tool_calls\n");
}

TEST(StopAfterTools, runs_no_grace_period_after_the_turn) {
  Withheld withheld;
  StopAfterToolCalls stage(StopAfterTools::burst, true, withheld);
  EXPECT_EQ(run(stage, turn({call(0, "f", ""), finish_calls()})),
            "call 0 f\nend 0 complete\nfinish tool_calls\n");
  EXPECT_EQ(stage.grace(), std::nullopt);
  EXPECT_FALSE(stage.is_cut());
}

}  // namespace
}  // namespace callgate::policy::stop_after_tools_test
