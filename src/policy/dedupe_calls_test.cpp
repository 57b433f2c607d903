#include "policy/dedupe_calls.h"

#include "policy/policy_testing.h"

namespace callgate::policy::dedupe_calls_test {
namespace {

class DedupeCallsTest : public testing::Test {
 protected:
  std::string passed(const std::vector<Event>& events, std::size_t max_held_back = 1000) {
    DedupeCalls stage(max_held_back, withheld_);
    return run(stage, events);
  }
  Withheld withheld_;
};

TEST_F(DedupeCallsTest, sends_a_repeated_call_once) {
  EXPECT_EQ(passed(turn({call(0, "f", "{\"a\":1}"), call(1, "f", "{\"a\":1}"), text("x"),
                         call(2, "f", "{\"a\":2}"), call(3, "f", "{\"a\":2}"), finish_calls()})),
            "call 0 f\nargs 0 {\"a\":1}\nend 0 complete\ntext \"x\"\n"
            "call 1 f\nargs 1 {\"a\":2}\nend 1 complete\nfinish tool_calls\n");
  EXPECT_EQ(withheld_.calls, 2u);
  EXPECT_EQ(withheld_.bytes, 14u);
}

TEST_F(DedupeCallsTest, knows_arguments_whatever_the_white_space_between_them) {
  EXPECT_EQ(passed(turn({call(0, "f", "{\"a\": [1, 2]}"), call(1, "f", "{ \"a\":[1,2] }"),
                         call(2, "f", "{\"a\": \"x y\"}"), call(3, "f", "{\"a\": \"xy\"}"),
                         finish_calls()})),
            "call 0 f\nargs 0 {\"a\": [1, 2]}\nend 0 complete\n"
            "call 1 f\nargs 1 {\"a\": \"x y\"}\nend 1 complete\n"
            "call 2 f\nargs 2 {\"a\": \"xy\"}\nend 2 complete\nfinish tool_calls\n");
  EXPECT_EQ(withheld_.calls, 1u);
}

TEST_F(DedupeCallsTest, keeps_the_same_arguments_of_another_tool) {
  EXPECT_EQ(passed(turn({call(0, "f", "{}"), call(1, "g", "{}"), finish_calls()})),
            "call 0 f\nargs 0 {}\nend 0 complete\ncall 1 g\nargs 1 {}\nend 1 complete\n"
            "finish tool_calls\n");
  EXPECT_EQ(withheld_.calls, 0u);
}

TEST_F(DedupeCallsTest, holds_a_call_back_only_when_its_name_is_known) {
  DedupeCalls stage(1000, withheld_);
  GrammarLog log;
  stage.push(CallStarted{0, "f", "a"}, log);
  EXPECT_FALSE(stage.is_holding_back());
  EXPECT_EQ(log.print(), "call 0 f id=a\n");
  stage.push(CallFinished{0, CallOutcome::complete}, log);
  stage.push(CallStarted{1, "f", "b"}, log);
  EXPECT_TRUE(stage.is_holding_back());
  stage.push(ArgumentsDelta{1, "{\"a\":"}, log);
  EXPECT_EQ(log.print(), "call 0 f id=a\nend 0 complete\n");
  stage.push(ArgumentsDelta{1, "1} x"}, log);
  EXPECT_FALSE(stage.is_holding_back()) << "its value is whole";
  EXPECT_EQ(log.print(), "call 0 f id=a\nend 0 complete\ncall 1 f id=b\nargs 1 {\"a\":1} x\n");
  stage.push(CallFinished{1, CallOutcome::malformed}, log);
}

TEST_F(DedupeCallsTest, compares_calls_whose_value_never_closes_when_they_are_finished) {
  const CallOutcome cut = CallOutcome::truncated;
  EXPECT_EQ(passed(turn({call(0, "f", "12"), call(1, "f", "12"), call(2, "f", ""), call(3, "f", ""),
                         call(4, "f", "{\"a", cut), finish_calls()})),
            "call 0 f\nargs 0 12\nend 0 complete\ncall 1 f\nend 1 complete\n"
            "call 2 f\nargs 2 {\"a\nend 2 truncated\nfinish length\n");
  EXPECT_EQ(withheld_.calls, 2u);
}

TEST_F(DedupeCallsTest, holds_back_as_many_bytes_as_it_may) {
  const std::vector<Event> events =
      turn({call(0, "f", "{\"a\":1}"), call(1, "f", "{\"a\":1}"), finish_calls()});
  EXPECT_EQ(passed(events, 7), "call 0 f\nargs 0 {\"a\":1}\nend 0 complete\nfinish tool_calls\n");
  EXPECT_EQ(withheld_.calls, 1u);
  passed(events, 6);
  EXPECT_EQ(withheld_.calls, 1u) << "one byte less: the first call is not remembered";

  // Held back in pieces, the last of which fills the space without closing the value.
  DedupeCalls stage(3, withheld_);
  GrammarLog log;
  for (const Event& event : call(0, "f", "")) stage.push(event, log);
  stage.push(CallStarted{1, "f", ""}, log);
  stage.push(ArgumentsDelta{1, "[1,"}, log);
  EXPECT_TRUE(stage.is_holding_back());
  stage.push(ArgumentsDelta{1, "2"}, log);
  EXPECT_FALSE(stage.is_holding_back());
  EXPECT_EQ(log.print(), "call 0 f\nend 0 complete\ncall 1 f\nargs 1 [1,2\n");
  stage.push(CallFinished{1, CallOutcome::truncated}, log);
}

TEST_F(DedupeCallsTest, passes_a_call_that_is_too_long_to_hold_back) {
  EXPECT_EQ(passed(turn({call(0, "f", "{}"), call(1, "f", "{\"a\":1}"), call(2, "f", "{\"a\":1}"),
                         finish_calls()}),
                   5),
            "call 0 f\nargs 0 {}\nend 0 complete\ncall 1 f\nargs 1 {\"a\":1}\nend 1 complete\n"
            "call 2 f\nargs 2 {\"a\":1}\nend 2 complete\nfinish tool_calls\n");
}

}  // namespace
}  // namespace callgate::policy::dedupe_calls_test
