#include <gtest/gtest.h>

#include "callgate/loop_options.h"

namespace callgate::loop::options_test {
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

TEST(LoopOptions, every_number_has_its_place) {
  Options options;
  std::uint32_t value = 1000;
  for (const auto& [name, member] :
       std::initializer_list<std::pair<std::string_view, std::uint32_t Options::*>>{
           {"max_tool_rounds", &Options::max_tool_rounds},
           {"max_calls_per_tool", &Options::max_calls_per_tool},
           {"max_calls", &Options::max_calls},
           {"calls_per_round", &Options::calls_per_round},
           {"parallel", &Options::parallel},
           {"repeated_calls", &Options::repeated_calls},
           {"repeats_to_force", &Options::repeats_to_force},
           {"repeated_results", &Options::repeated_results},
           {"empty_retries", &Options::empty_retries},
           {"turn_retries", &Options::turn_retries},
           {"find_tools_above", &Options::find_tools_above},
           {"find_tools_limit", &Options::find_tools_limit}}) {
    EXPECT_TRUE(set_option(options, name, std::to_string(++value))) << name;
    EXPECT_EQ(options.*member, value) << name;
  }
  for (const auto& [name, member] :
       std::initializer_list<std::pair<std::string_view, std::size_t Options::*>>{
           {"evict_bytes", &Options::evict_bytes},
           {"evict_preview_bytes", &Options::evict_preview_bytes},
           {"evicted_results", &Options::evicted_results},
           {"evicted_bytes", &Options::evicted_bytes},
           {"notice_preview_bytes", &Options::notice_preview_bytes}}) {
    EXPECT_TRUE(set_option(options, name, std::to_string(++value))) << name;
    EXPECT_EQ(options.*member, value) << name;
  }
  EXPECT_TRUE(set_option(options, "loop_timeout", "1000000000")) << "the longest";
  EXPECT_FALSE(set_option(options, "loop_timeout", "1000000001"));
}

// Every word and every unit, from a value that differs.
TEST(LoopOptions, every_word_has_its_meaning) {
  Options options;
  const auto set = [&](std::string_view name, std::string_view value) {
    EXPECT_TRUE(set_option(options, name, value)) << name << " " << value;
  };
  set("on_limit", "tell_model");
  set("on_limit", "stop");
  EXPECT_EQ(options.on_limit, OnLimit::stop);
  set("on_tool_error", "stop");
  set("on_tool_error", "tell_model");
  EXPECT_EQ(options.on_tool_error, OnToolError::tell_model);
  set("memory", "none");
  EXPECT_EQ(options.memory, Memory::none);
  set("memory", "outside");
  EXPECT_EQ(options.memory, Memory::outside);
  for (bool Options::*flag : {&Options::show_tool_calls, &Options::return_reasoning}) {
    const std::string_view name =
        flag == &Options::show_tool_calls ? "show_tool_calls" : "return_reasoning";
    for (const auto& [word, meaning] : {std::pair("true", true), std::pair("0", false),
                                        std::pair("1", true), std::pair("false", false)}) {
      set(name, word);
      EXPECT_EQ(options.*flag, meaning) << name << " " << word;
    }
  }
  for (const auto& [text, millis] :
       {std::pair("7", Millis{7}), std::pair("7ms", Millis{7}), std::pair("7s", Millis{7'000}),
        std::pair("7m", Millis{420'000}), std::pair("7h", Millis{25'200'000})}) {
    set("loop_timeout", text);
    EXPECT_EQ(options.loop_timeout, millis) << text;
  }
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
}  // namespace callgate::loop::options_test
