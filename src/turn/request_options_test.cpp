#include "turn/request_options.h"

#include <gtest/gtest.h>

namespace callgate::server::request_options_test {
namespace {

TEST(RequestOptions, choose_the_output_by_client) {
  const OutputByClient rows{{"*", "json"}, {"*obsidian*", "xml"}};
  const auto output_for = [&](std::string_view agent) {
    PolicyOptions policy;
    choose_output(policy, agent, rows);
    return policy.output;
  };
  EXPECT_EQ(output_for("Mozilla Obsidian/1.5"), CallOutput::xml);
  EXPECT_EQ(output_for("curl/8"), CallOutput::json);
  PolicyOptions policy;
  choose_output(policy, "curl/8", {{"*obsidian*", "xml"}});
  EXPECT_EQ(policy.output, CallOutput::tool_calls);
}

TEST(RequestOptions, set_policies_for_one_request) {
  const PolicyOptions configured{.suppress_tail_after_tools = true};
  const auto options = read_options({{"X-Callgate-Output", "xml"},
                                     {"x-callgate-stop-after-tools", "first"},
                                     {"x-callgate-timing", "1"},
                                     {"x-callgate-session", "s"},
                                     {"x-request-id", "r"}},
                                    configured);
  ASSERT_TRUE(options);
  EXPECT_EQ(options->policy, (PolicyOptions{.stop_after_tools = StopAfterTools::first,
                                            .suppress_tail_after_tools = true,
                                            .output = CallOutput::xml}));
  EXPECT_TRUE(options->timing);
}

TEST(RequestOptions, lower_the_limit_of_calls_but_never_raise_it) {
  const auto asked = [](std::string_view number, std::uint32_t configured) {
    return read_options({{"x-callgate-tool-call-max", number}}, {.tool_call_max = configured})
        ->policy.tool_call_max;
  };
  EXPECT_EQ(asked("3", 16), 3u);
  EXPECT_EQ(asked("99", 16), 16u);
  EXPECT_EQ(asked("0", 16), 16u);
  EXPECT_EQ(asked("99", 0), 99u);
}

TEST(RequestOptions, take_the_split_from_the_query_before_the_header) {
  const auto asked = [](std::string_view query) {
    return read_options({{"x-callgate-split", "none"}}, {}, query);
  };
  EXPECT_EQ(asked("")->policy.split, TextSplit::none);
  const auto both = asked("api-version=1&split=sentences&split_min_characters=4");
  EXPECT_EQ(both->policy,
            (PolicyOptions{.split = TextSplit::sentences, .split_min_characters = 4}));
  EXPECT_EQ(asked("split=words").error().message,
            "query split: \"words\", expected none or sentences");
}

TEST(RequestOptions, name_the_header_and_what_was_expected) {
  const auto options = read_options({{"x-callgate-output", "yaml"}}, {});
  ASSERT_FALSE(options);
  EXPECT_EQ(options.error().message,
            "header x-callgate-output: \"yaml\", expected tool_calls, json, xml or xml_only");
}

}  // namespace
}  // namespace callgate::server::request_options_test
