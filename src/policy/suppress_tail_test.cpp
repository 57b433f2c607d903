#include "policy/suppress_tail.h"

#include "policy/policy_testing.h"

namespace callgate::policy::suppress_tail_test {
namespace {

class SuppressTailTest : public testing::Test {
 protected:
  std::string passed(const std::vector<Event>& events, std::size_t max_held_back = 1000) {
    SuppressTail stage(max_held_back, withheld_);
    return run(stage, events);
  }
  Withheld withheld_;
};

TEST_F(SuppressTailTest, withholds_text_after_the_last_call_and_passes_text_between_calls) {
  EXPECT_EQ(passed(turn({text("a"), call(0, "f", ""), text("b"), text("c"), call(1, "g", ""),
                         text("tail"), finish_calls()})),
            "text \"a\"\ncall 0 f\nend 0 complete\ntext \"bc\"\ncall 1 g\nend 1 complete\n"
            "finish tool_calls\n");
  EXPECT_EQ(withheld_.bytes, 4u);
}

TEST_F(SuppressTailTest, leaves_a_turn_without_calls_alone) {
  EXPECT_EQ(passed(turn({text("a"), text("b"), finish(FinishReason::stop)})),
            "text \"ab\"\nfinish stop\n");
}

TEST_F(SuppressTailTest, passes_reasoning_in_its_order) {
  EXPECT_EQ(passed(turn({call(0, "f", ""), reasoning("r"), text("b"), reasoning("s"),
                         call(1, "g", ""), text("c"), reasoning("t"), finish_calls()})),
            "call 0 f\nend 0 complete\nreasoning \"r\"\ntext \"b\"\nreasoning \"s\"\n"
            "call 1 g\nend 1 complete\nreasoning \"t\"\nfinish tool_calls\n");
  EXPECT_EQ(withheld_.bytes, 1u);
}

TEST_F(SuppressTailTest, takes_too_much_text_for_the_tail) {
  EXPECT_EQ(passed(turn({call(0, "f", ""), text("ab"), text("cd"), reasoning("efg"),
                         call(1, "g", ""), finish_calls()}),
                   3),
            "call 0 f\nend 0 complete\nreasoning \"efg\"\ncall 1 g\nend 1 complete\n"
            "finish tool_calls\n");
  EXPECT_EQ(withheld_.bytes, 4u);
}

}  // namespace
}  // namespace callgate::policy::suppress_tail_test
