#include <gtest/gtest.h>

#include "turn/request_options.h"

namespace callgate::server::request_timing_test {
namespace {

TEST(RequestOptions, time_an_answer_that_asks_for_it) {
  for (const std::string_view yes : {"1", "true"}) {
    EXPECT_TRUE(read_options({{"x-callgate-timing", yes}}, {})->timing) << yes;
  }
  for (const std::string_view no : {"0", "false", "", "yes"}) {
    EXPECT_FALSE(read_options({{"x-callgate-timing", no}}, {})->timing) << no;
  }
  EXPECT_FALSE(read_options({}, {})->timing);
  EXPECT_FALSE(read_options({{"y-callgate-timing", "1"}}, {})->timing);
}

TEST(RequestOptions, may_have_no_limit_of_calls_where_none_is_configured) {
  EXPECT_EQ(
      read_options({{"x-callgate-tool-call-max", "0"}}, {.tool_call_max = 0})->policy.tool_call_max,
      0u);
  EXPECT_EQ(read_options({}, {.tool_call_max = 0})->policy.tool_call_max, 0u);
  EXPECT_EQ(read_options({}, {.tool_call_max = 5})->policy.tool_call_max, 5u);
}

}  // namespace
}  // namespace callgate::server::request_timing_test
