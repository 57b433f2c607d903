#include "turn/loop_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace callgate::server::loop_choice_test {
namespace {

using testing::HasSubstr;

class LoopChoiceTest : public testing::Test {
 protected:
  LoopChoiceTest() {
    config_.tools.push_back({.name = "find", .kind = "builtin"});
    config_.tools.push_back(
        {.name = "refund", .kind = "builtin", .approval = true, .max_calls = 2});
  }

  Result<LoopChoice> choose(std::string_view member) {
    Request request = request_;
    request.extra.push_back({"temperature", {"1"}});
    if (!member.empty()) request.extra.push_back({"callgate", {std::string(member)}});
    auto choice = choose_loop(request, headers_, config_, model_, key_, &catalogue_);
    EXPECT_EQ(request.extra.size(), 1u);
    return choice;
  }
  std::string error_of(std::string_view member) {
    const auto choice = choose(member);
    return choice ? "no error" : choice.error().message;
  }

  Request request_;
  Config config_;
  ModelConfig model_;
  const KeyConfig* key_ = nullptr;
  net::Headers headers_;
  tool::Catalogue catalogue_{{{.spec = {.name = "find"}, .source = "find"},
                              {.spec = {.name = "refund"}, .source = "refund"}}};
};

TEST_F(LoopChoiceTest, is_off_unless_model_header_or_body_say_so) {
  EXPECT_FALSE(choose("")->on);
  EXPECT_TRUE(choose(R"({"loop": true})")->on);
  model_.loop = true;
  EXPECT_TRUE(choose("")->on);
  EXPECT_FALSE(choose(R"({"loop": false})")->on);
  headers_.add("x-callgate-loop", "0");
  EXPECT_FALSE(choose("")->on);
  EXPECT_TRUE(choose(R"({"loop": true})")->on);
}

TEST_F(LoopChoiceTest, bounds_the_time_of_each_tool) {
  model_.loop = true;
  catalogue_ = tool::Catalogue({{.spec = {.name = "find"}, .source = "find"},
                                {.spec = {.name = "refund"}, .source = "refund"}});
  config_.loop.tool_timeout = Milliseconds(5'000);
  const auto times = [this] {
    std::vector<loop::Millis> all;
    const auto choice = choose("");
    for (const loop::Tool& tool : choice->tools) all.push_back(tool.timeout);
    return all;
  };
  EXPECT_THAT(times(), testing::Each(5'000u)) << "neither has a time of its own";
}

TEST_F(LoopChoiceTest, takes_the_split_of_text_with_and_without_a_loop) {
  const auto split = choose(R"({"split": "sentences", "split_min_characters": 3})");
  EXPECT_FALSE(split->on);
  PolicyOptions policy;
  split->apply_to(policy);
  EXPECT_EQ(policy, (PolicyOptions{.split = TextSplit::sentences, .split_min_characters = 3}));
  const auto looped = choose(R"({"split": "none", "loop": true})");
  EXPECT_TRUE(looped->on);
  looped->apply_to(policy);
  EXPECT_EQ(policy.split, TextSplit::none);
  EXPECT_EQ(error_of(R"({"split": true})"), "callgate.split: expected none or sentences");
  EXPECT_EQ(error_of(R"({"split": "words"})"), "callgate.split: expected none or sentences");
}

TEST_F(LoopChoiceTest, a_conversation_is_a_loop_that_has_tools_only_where_asked) {
  const auto named = choose(R"({"conversation": "c1"})");
  EXPECT_TRUE(named->on);
  EXPECT_EQ(named->conversation, "c1");
  EXPECT_EQ(named->options.memory, loop::Memory::outside);
  EXPECT_TRUE(named->tools.empty());
  EXPECT_FALSE(choose(R"({"conversation": "c1", "memory": "none"})")->on);
  headers_.add("x-callgate-conversation", "c2");
  config_.loop.memory = "inside";
  const auto looped = choose(R"({"loop": true})");
  EXPECT_EQ(looped->conversation, "c2");
  EXPECT_EQ(looped->options.memory, loop::Memory::inside);
  EXPECT_EQ(looped->tools.size(), 2u);
  const auto none = choose(R"({"loop": true, "memory": "none"})");
  EXPECT_EQ(none->conversation, "");
  EXPECT_EQ(none->options.memory, loop::Memory::none);
  EXPECT_EQ(error_of(R"({"memory": "all"})"), "callgate.memory: expected outside, inside or none");
  EXPECT_THAT(error_of(R"({"conversation": "a\u0000b"})"), HasSubstr("control characters"));
}

TEST_F(LoopChoiceTest, takes_what_the_tables_say_of_tools) {
  model_.loop = true;
  const auto all = choose("");
  ASSERT_EQ(all->tools.size(), 2u);
  EXPECT_FALSE(all->tools[0].approval);
  EXPECT_TRUE(all->tools[1].approval);
  EXPECT_EQ(all->tools[1].max_calls, 2u);
  EXPECT_EQ(choose(R"({"tools": ["find"]})")->tools.size(), 1u);
  EXPECT_EQ(choose(R"({"tools": []})")->tools.size(), 0u);
  model_.loop_tools = {"re*"};
  EXPECT_EQ(choose("")->tools.size(), 1u);
  EXPECT_EQ(error_of(R"({"tools": ["find"]})"),
            "callgate.tools: there is no tool \"find\" for this model and key; known: refund");
}

TEST_F(LoopChoiceTest, gives_a_tool_the_shorter_of_two_timeouts) {
  model_.loop = true;
  config_.loop.tool_timeout = Milliseconds(500);
  EXPECT_EQ(choose("")->tools[0].timeout, 500);
  config_.loop.tool_timeout = Milliseconds(90'000);
  EXPECT_EQ(choose("")->tools[0].timeout, 30'000);
}

TEST_F(LoopChoiceTest, lets_a_caller_lower_limits_only) {
  model_.loop = true;
  EXPECT_EQ(choose(R"({"max_tool_rounds": 0})")->options.max_tool_rounds, 0u);
  EXPECT_EQ(choose(R"({"max_tool_rounds": 99})")->options.max_tool_rounds, 10u);
  EXPECT_EQ(choose(R"({"max_calls": 0})")->options.max_calls, 150u);
  config_.loop.max_calls = 0;
  EXPECT_EQ(choose(R"({"max_calls": 7})")->options.max_calls, 7u);
}

TEST_F(LoopChoiceTest, brings_the_rules_of_the_key) {
  const KeyConfig key{.name = "team", .tools = {"fi*"}, .deny_tools = {"x*"}};
  key_ = &key;
  model_.loop = true;
  const auto choice = choose("");
  EXPECT_EQ(choice->options.key, "team");
  ASSERT_EQ(choice->options.rules.size(), 1u);
  EXPECT_EQ(choice->options.rules[0].allow.at(0), "fi*");
  EXPECT_EQ(choice->options.rules[0].deny.at(0), "x*");
}

TEST_F(LoopChoiceTest, speaks_of_a_denied_tool_as_of_one_that_does_not_exist) {
  const KeyConfig key{.name = "team", .deny_tools = {"refund"}};
  key_ = &key;
  model_.loop = true;
  const auto denied = choose(R"({"tools": ["refund"]})");
  ASSERT_FALSE(denied);
  EXPECT_EQ(denied.error().param, "callgate.tools");
  EXPECT_EQ(denied.error().message,
            "callgate.tools: there is no tool \"refund\" for this model and key; known: find");
  EXPECT_EQ(error_of(R"({"tools": ["nothing"]})"),
            "callgate.tools: there is no tool \"nothing\" for this model and key; known: find");
}

TEST_F(LoopChoiceTest, a_key_without_tools_has_none) {
  const KeyConfig key{.name = "team", .tools = {}};
  key_ = &key;
  model_.loop = true;
  EXPECT_EQ(choose("")->options.rules[0].deny, std::vector<std::string>{"*"});
  EXPECT_THAT(error_of(R"({"tools": ["find"]})"), HasSubstr("known: none"));
}

TEST_F(LoopChoiceTest, tool_choice_may_insist_on_tools_of_the_gateway) {
  model_.loop = true;
  request_.tool_choice = {.mode = ToolChoice::Mode::required};
  EXPECT_TRUE(choose(""));
  EXPECT_THAT(error_of(R"({"tools": []})"), HasSubstr("tool_choice: \"required\" without tools"));
  EXPECT_THAT(error_of(R"({"loop": false})"), HasSubstr("without tools"));
  request_.tool_choice = {.mode = ToolChoice::Mode::named, .name = "find"};
  EXPECT_TRUE(choose(""));
  EXPECT_THAT(error_of(R"({"tools": ["refund"]})"),
              HasSubstr("\"find\", expected a declared tool"));
  EXPECT_THAT(error_of(R"({"loop": false})"), HasSubstr("\"find\", expected a declared tool"));
  request_.tools = {{.name = "find"}};
  EXPECT_TRUE(choose(R"({"loop": false})"));
  request_.tools = {};
  const KeyConfig key{.name = "team", .deny_tools = {"find"}};
  key_ = &key;
  const auto denied = choose("");
  ASSERT_FALSE(denied);
  EXPECT_EQ(denied.error().param, "tool_choice");
  request_.tool_choice = {.mode = ToolChoice::Mode::named, .name = "refund"};
  EXPECT_TRUE(choose(""));
}

TEST_F(LoopChoiceTest, tool_choice_needs_tools_without_a_loop) {
  request_.tool_choice = {.mode = ToolChoice::Mode::required};
  EXPECT_EQ(choose("").error().param, "tool_choice");
  request_.other_tools = {{.text = R"({"type":"web_search"})"}};
  EXPECT_TRUE(choose(""));
  request_.tool_choice = {.mode = ToolChoice::Mode::automatic};
  request_.other_tools = {};
  EXPECT_TRUE(choose(""));
}

TEST_F(LoopChoiceTest, says_what_is_wrong) {
  EXPECT_THAT(error_of("[]"), HasSubstr("callgate: expected an object"));
  EXPECT_THAT(error_of(R"({"loop": 1})"), HasSubstr("callgate.loop: expected true or false"));
  EXPECT_THAT(error_of(R"({"max_calls": -1})"), HasSubstr("callgate.max_calls: expected a whole"));
  EXPECT_THAT(error_of(R"({"tools": [1]})"), HasSubstr("callgate.tools: expected a list"));
  EXPECT_THAT(error_of(R"({"lop": true})"), HasSubstr("callgate.lop: expected loop, tools"));
}

}  // namespace
}  // namespace callgate::server::loop_choice_test
