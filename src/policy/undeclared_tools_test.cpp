#include "policy/undeclared_tools.h"

#include "policy/policy_testing.h"

namespace callgate::policy::undeclared_tools_test {
namespace {

class UndeclaredToolsTest : public testing::Test {
 protected:
  std::vector<ToolSpec> tools_{{.name = "find"}};
  Withheld withheld_;
};

TEST_F(UndeclaredToolsTest, passes_calls_of_declared_tools) {
  UndeclaredToolCalls stage(UndeclaredTools::text, tools_, withheld_);
  EXPECT_EQ(run(stage, turn({call(0, "find", "{\"q\":1}"), finish_calls()})),
            "call 0 find\nargs 0 {\"q\":1}\nend 0 complete\nfinish tool_calls\n");
}

TEST_F(UndeclaredToolsTest, writes_a_call_as_text_and_ends_a_turn_without_calls_with_stop) {
  UndeclaredToolCalls stage(UndeclaredTools::text, tools_, withheld_);
  EXPECT_EQ(run(stage, turn({call(0, "dr\"op", "{\"q\":1}"), finish_calls()})),
            R"(text "{\"name\":\"dr\\\"op\",\"arguments\":{\"q\":1}}")"
            "\nfinish stop\n");
  EXPECT_EQ(withheld_.calls, 0u);
}

TEST_F(UndeclaredToolsTest, writes_missing_arguments_as_an_empty_object) {
  UndeclaredToolCalls stage(UndeclaredTools::text, tools_, withheld_);
  EXPECT_EQ(run(stage, turn({call(0, "x", ""), finish_calls()})),
            R"(text "{\"name\":\"x\",\"arguments\":{}}")"
            "\nfinish stop\n");
}

TEST_F(UndeclaredToolsTest, drops_a_call_with_a_note_and_closes_the_gap_in_the_numbers) {
  UndeclaredToolCalls stage(UndeclaredTools::drop_with_note, tools_, withheld_);
  EXPECT_EQ(
      run(stage, turn({call(0, "rm", "{\"q\":1}"), call(1, "find", "{}"), finish_calls()})),
      R"(text "[The model called \"rm\", which is not a declared tool. The call was dropped.]")"
      "\ncall 0 find\nargs 0 {}\nend 0 complete\nfinish tool_calls\n");
  EXPECT_EQ(withheld_.calls, 1u);
  EXPECT_EQ(withheld_.bytes, 7u);
}

}  // namespace
}  // namespace callgate::policy::undeclared_tools_test
