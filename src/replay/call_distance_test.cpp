#include "replay/call_distance.h"

#include <gtest/gtest.h>

namespace callgate::replay::call_distance_test {
namespace {

TEST(CallDistance, is_how_far_the_text_is_from_what_a_model_of_the_dialect_writes) {
  const Dialect& hermes = *dialect::find("hermes");
  const LoggedCall call{.name = "f", .arguments = R"({"a": "b c"})"};
  const std::string usual =
      "<tool_call>\n{\"name\": \"f\", \"arguments\": {\"a\": \"b c\"}}\n</tool_call>";
  const std::string dense = "<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":\"bc\"}}</tool_call>";
  EXPECT_EQ(distance(hermes, call, "Hm. " + usual + " So."), 0);
  EXPECT_EQ(distance(hermes, call, dense), 1);
  for (const std::string space : {" ", "\n", "\t", "\r", "\r\n\t "}) {
    std::string spaced = dense;
    spaced.insert(spaced.find('{'), space);
    EXPECT_EQ(distance(hermes, call, spaced), 1) << testing::PrintToString(space);
  }
  EXPECT_EQ(distance(hermes, {.name = "g", .arguments = call.arguments}, usual), 2);
  EXPECT_EQ(distance(hermes, call, "[TOOL_CALLS]f{}"), 2);
  EXPECT_EQ(distance(*dialect::find("native"), call, usual), 2) << "it writes no calls";
}

}  // namespace
}  // namespace callgate::replay::call_distance_test
