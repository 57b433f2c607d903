#include <gtest/gtest.h>

#include "callgate/loop_options.h"

namespace callgate::loop {
namespace {

TEST(LoopOptions, are_set_from_text) {
  Options options;
  for (const auto& [name, value] :
       std::initializer_list<std::pair<std::string_view, std::string_view>>{
           {"max_tool_rounds", "0"},
           {"parallel", "4"},
           {"evict_bytes", "99"},
           {"loop_timeout", "2m"},
           {"tool_timeout", "1500"},
           {"approval_timeout", "20ms"},
           {"on_limit", "tell_model"},
           {"on_tool_error", "stop"},
           {"memory", "inside"},
           {"show_tool_calls", "true"},
           {"round_separator", "\n\n"}}) {
    EXPECT_TRUE(set_option(options, name, value)) << name;
  }
  EXPECT_EQ(options.max_tool_rounds, 0u);
  EXPECT_EQ(options.parallel, 4u);
  EXPECT_EQ(options.evict_bytes, 99u);
  EXPECT_EQ(options.loop_timeout, 120'000);
  EXPECT_EQ(options.tool_timeout, 1'500);
  EXPECT_EQ(options.approval_timeout, 20);
  EXPECT_EQ(options.on_limit, OnLimit::tell_model);
  EXPECT_EQ(options.on_tool_error, OnToolError::stop);
  EXPECT_EQ(options.memory, Memory::inside);
  EXPECT_TRUE(options.show_tool_calls);
  EXPECT_EQ(options.round_separator, "\n\n");
}

TEST(LoopOptions, what_is_not_known_changes_nothing) {
  Options options;
  for (const auto& [name, value] :
       std::initializer_list<std::pair<std::string_view, std::string_view>>{
           {"max_rounds", "1"},
           {"max_calls", ""},
           {"max_calls", "-1"},
           {"max_calls", "1.5"},
           {"max_calls", "99999999999"},
           {"loop_timeout", "s"},
           {"loop_timeout", "5 s"},
           {"loop_timeout", "9999999999999h"},
           {"memory", "everything"},
           {"show_tool_calls", "yes"},
           {"key", "admin"},
           {"rules", "*"}}) {
    EXPECT_FALSE(set_option(options, name, value)) << name << " " << value;
  }
  EXPECT_EQ(options.max_calls, 150u);
  EXPECT_EQ(options.loop_timeout, 300'000);
  EXPECT_EQ(options.memory, Memory::outside);
}

}  // namespace
}  // namespace callgate::loop
