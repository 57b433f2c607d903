#include <gtest/gtest.h>

#include "callgate/policy.h"

namespace callgate::options_test {
namespace {

TEST(PolicyOptions, are_set_from_words) {
  PolicyOptions options;
  EXPECT_TRUE(set_policy(options, "stop_after_tools", "first"));
  EXPECT_TRUE(set_policy(options, "suppress_tail_after_tools", "true"));
  EXPECT_TRUE(set_policy(options, "tool_call_max", "3"));
  EXPECT_TRUE(set_policy(options, "call_whitespace", "false"));
  EXPECT_TRUE(set_policy(options, "dedupe_calls", "1"));
  EXPECT_TRUE(set_policy(options, "undeclared_tools", "drop_with_note"));
  EXPECT_TRUE(set_policy(options, "invalid_arguments", "repair"));
  EXPECT_TRUE(set_policy(options, "reasoning", "think_tags"));
  EXPECT_TRUE(set_policy(options, "reasoning_coalesce_bytes", "512"));
  EXPECT_TRUE(set_policy(options, "call_id_style", "random"));
  EXPECT_TRUE(set_policy(options, "output", "obsidian-xml"));
  EXPECT_TRUE(set_policy(options, "error_after_tools", "tool_calls"));
  EXPECT_TRUE(set_policy(options, "estimate_usage", "false"));
  EXPECT_TRUE(set_policy(options, "trailing_counters", "true"));
  EXPECT_TRUE(set_policy(options, "split", "sentences"));
  EXPECT_TRUE(set_policy(options, "split_min_characters", "4"));
  EXPECT_EQ(options, (PolicyOptions{.stop_after_tools = StopAfterTools::first,
                                    .suppress_tail_after_tools = true,
                                    .tool_call_max = 3,
                                    .call_whitespace = false,
                                    .dedupe_calls = true,
                                    .undeclared_tools = UndeclaredTools::drop_with_note,
                                    .invalid_arguments = InvalidArguments::repair,
                                    .reasoning = ReasoningForm::think_tags,
                                    .reasoning_coalesce_bytes = 512,
                                    .call_id_style = CallIdStyle::random,
                                    .output = CallOutput::xml,
                                    .error_after_tools = ErrorAfterTools::tool_calls,
                                    .estimate_usage = false,
                                    .trailing_counters = true,
                                    .split = TextSplit::sentences,
                                    .split_min_characters = 4}));
}

TEST(PolicyOptions, take_a_switch_for_burst) {
  PolicyOptions options;
  EXPECT_TRUE(set_policy(options, "stop_after_tools", "true"));
  EXPECT_EQ(options.stop_after_tools, StopAfterTools::burst);
  EXPECT_TRUE(set_policy(options, "stop_after_tools", "0"));
  EXPECT_EQ(options.stop_after_tools, StopAfterTools::off);
}

TEST(PolicyOptions, stay_as_they_are_when_a_name_or_value_is_not_known) {
  PolicyOptions options;
  EXPECT_FALSE(set_policy(options, "stop", "first"));
  EXPECT_FALSE(set_policy(options, "stop_after_tools", "later"));
  EXPECT_FALSE(set_policy(options, "tool_call_max", "-1"));
  EXPECT_FALSE(set_policy(options, "tool_call_max", "3x"));
  EXPECT_FALSE(set_policy(options, "tool_call_max", ""));
  EXPECT_FALSE(set_policy(options, "dedupe_calls", "maybe"));
  EXPECT_EQ(options, PolicyOptions{});
}

}  // namespace
}  // namespace callgate::options_test
