#include "policy/reasoning_form.h"

#include "policy/policy_testing.h"

namespace callgate::policy::reasoning_form_test {
namespace {

TEST(ReasoningInText, stands_between_think_tags) {
  ReasoningInText stage;
  EXPECT_EQ(run(stage, turn({reasoning("a"), reasoning("b"), text("c"), reasoning("d"),
                             call(0, "f", ""), reasoning("e"), finish_calls()})),
            "text \"<think>ab</think>c<think>d</think>\"\ncall 0 f\nend 0 complete\n"
            "text \"<think>e</think>\"\nfinish tool_calls\n");
}

TEST(ReasoningInText, leaves_a_turn_without_reasoning_alone) {
  ReasoningInText stage;
  EXPECT_EQ(run(stage, turn({text("c"), finish(FinishReason::stop)})), "text \"c\"\nfinish stop\n");
}

TEST(HideReasoning, withholds_reasoning_and_counts_it) {
  Withheld withheld;
  HideReasoning stage(withheld);
  EXPECT_EQ(run(stage, turn({reasoning("ab"), text("c"), call(0, "f", ""), finish_calls()})),
            "text \"c\"\ncall 0 f\nend 0 complete\nfinish tool_calls\n");
  EXPECT_EQ(withheld.bytes, 2u);
}

}  // namespace
}  // namespace callgate::policy::reasoning_form_test
