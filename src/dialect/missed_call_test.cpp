#include "dialect/missed_call.h"

#include <gtest/gtest.h>

#include <vector>

namespace callgate::dialect::missed_call_test {
namespace {

const std::vector<ToolSpec> kTools = {{.name = "get_weather"}};

std::string_view missed(std::string_view text) { return find_missed_call(text, kTools); }

TEST(MissedCall, names_the_dialect_that_reads_the_call) {
  EXPECT_EQ(
      missed("Sure: <tool_call>{\"name\": \"get_weather\", \"arguments\": {}}</tool_call> ok"),
      "hermes");
  EXPECT_EQ(missed("<tool_call>\n<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n"
                   "</function>\n</tool_call>"),
            "qwen3_coder");
  EXPECT_EQ(missed("[TOOL_CALLS]get_weather[ARGS]{\"city\": \"Paris\"}"), "mistral_v13");
  EXPECT_EQ(missed("[get_weather(city=\"Paris\")]"), "pythonic");
}

TEST(MissedCall, names_the_dialect_of_an_opener_whose_call_is_broken) {
  EXPECT_EQ(missed("<tool_call>\n{'name': 'get_weather'}\n</tool_call>"), "hermes");
  EXPECT_EQ(missed("Hm.\n<function=fly>{\n"), "qwen3_coder");
}

TEST(MissedCall, leaves_prose_alone) {
  for (const std::string_view text :
       {"", "It is sunny.", "if (a < b) { return [1, 2]; }", "Write `<tool_call>` first.",
        "The tool get_weather [see above] says {\"sun\": true}.", "```\n<tool_call>\n```"}) {
    EXPECT_EQ(missed(text), "") << text;
  }
}

}  // namespace
}  // namespace callgate::dialect::missed_call_test
