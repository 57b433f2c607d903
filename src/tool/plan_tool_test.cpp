#include "tool/plan_tool.h"

#include <gtest/gtest.h>

#include "tool/tool_testing.h"

namespace callgate::tool::plan_tool_test {
namespace {

std::string message(std::string_view arguments) {
  const auto printed = print_plan(arguments);
  return printed ? "none" : printed.error().message;
}

TEST(PlanTool, gives_the_list_as_everybody_reads_it) {
  net::Loop loop;
  const ToolConfig config{.name = "plan", .how = BuiltinToolConfig{.builtin = "plan"}};
  const auto tool = make_tool(loop, config);
  const ToolResult result = run_tool(
      loop, *tool,
      call_with(
          R"({"steps": [{"step": "Read", "state": "done"}, {"state": "in_progress", "step": "Fix\nit"},)"
          R"({"step": "Test", "state": "pending"}, {"step": "Ask", "state": "dropped"}]})"));
  EXPECT_FALSE(result.is_error);
  EXPECT_EQ(result.text, "Plan, 1 of 4 done:\n[x] Read\n[>] Fix it\n[ ] Test\n[-] Ask\n");
  EXPECT_NE(tool->spec().parameters.text.find("in_progress"), std::string::npos);
}

TEST(PlanTool, says_what_is_wrong_with_a_list) {
  EXPECT_EQ(message("{}"), R"(expected {"steps": [...]}, the whole list)");
  EXPECT_EQ(message(R"({"steps": 1})"), R"(expected {"steps": [...]}, the whole list)");
  EXPECT_EQ(message(R"({"steps": ["a"]})"),
            R"(steps[0]: expected {"step": "...", "state": "..."})");
  EXPECT_EQ(message(R"({"steps": [{"step": "a", "state": "soon"}]})"),
            R"(steps[0].state: "soon", expected pending, in_progress, done or dropped)");
  EXPECT_EQ(message(R"({"steps": [{"step": " ", "state": "done"}]})"), "steps[0].step is empty");
  std::string many = R"({"steps": [)";
  for (int i = 0; i <= 100; ++i) {
    many += std::string(i == 0 ? "" : ",") + R"({"step": "a", "state": "done"})";
  }
  EXPECT_EQ(message(many + "]}"), "expected at most 100 steps");
  EXPECT_EQ(*print_plan(R"({"steps": []})"), "The plan is empty.");
}

}  // namespace
}  // namespace callgate::tool::plan_tool_test
