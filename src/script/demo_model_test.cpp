#include "script/demo_model.h"

#include <gmock/gmock.h>

#include "script/reply/reply_testing.h"

namespace callgate::script::demo_model_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kCitySchema =
    R"({"type":"object","properties":{"city":{"type":"string"}},"required":["city"]})";

// One line per part: `text ...`, `reasoning ...`, `call NAME ARGUMENTS`.
std::vector<std::string> said(const Request& request) {
  std::vector<std::string> lines;
  for (const Part& part : demo_turn(request)) {
    if (const auto* say = std::get_if<Say>(&part)) {
      lines.push_back((say->voice == Voice::reasoning ? "reasoning " : "text ") +
                      say->pieces.at(0));
    } else if (const auto* call = std::get_if<Call>(&part)) {
      lines.push_back("call " + call->name + " " + call->arguments.at(0));
    }
  }
  return lines;
}

Request with_tools(std::string_view user, std::initializer_list<const char*> names) {
  Request request = user_request(user);
  for (const char* name : names) {
    request.tools.push_back({.name = name, .parameters = {std::string(kCitySchema)}});
  }
  return request;
}

TEST(DemoModel, calls_the_first_tool_with_a_word_of_the_user) {
  EXPECT_THAT(said(with_tools("What is the weather in Paris?", {"get_weather", "other"})),
              ElementsAre("text Let me ask get_weather.", R"(call get_weather {"city":"Paris"})"));
}

TEST(DemoModel, follows_tool_choice) {
  Request request = with_tools("Go to Rome", {"one", "two"});
  request.tool_choice = {ToolChoice::Mode::named, "two"};
  EXPECT_THAT(said(request), ElementsAre("text Let me ask two.", R"(call two {"city":"Rome"})"));
  request.tool_choice = {ToolChoice::Mode::required, ""};
  EXPECT_EQ(said(request).at(1), R"(call one {"city":"Rome"})");
  request.tool_choice = {ToolChoice::Mode::none, ""};
  ASSERT_EQ(said(request).size(), 1u);
  EXPECT_THAT(said(request)[0], HasSubstr("You said: \"Go to Rome\". Tools are off"));
}

TEST(DemoModel, makes_two_calls_when_the_user_wants_both) {
  EXPECT_THAT(said(with_tools("Ask both", {"one", "two", "three"})),
              ElementsAre("text Let me ask one and two.", R"(call one {"city":"city"})",
                          R"(call two {"city":"city"})"));
  EXPECT_THAT(said(with_tools("Weather in both Paris and Rome", {"one"})),
              ElementsAre("text Let me ask one twice.", R"(call one {"city":"Paris"})",
                          R"(call one {"city":"Rome"})"));
  Request single = with_tools("Ask both", {"one", "two"});
  single.parallel_tool_calls = false;
  EXPECT_EQ(said(single).size(), 2u);
}

TEST(DemoModel, quotes_every_result_since_the_calls) {
  Request request = with_tools("Ask both", {"one", "two"});
  Message assistant{.role = Role::assistant};
  assistant.calls.push_back({.id = "a", .name = "one", .arguments = "{}"});
  assistant.calls.push_back({.id = "b", .name = "two", .arguments = "{}"});
  request.messages.push_back(assistant);
  EXPECT_EQ(said(request).size(), 3u) << "calls without results are no results";
  for (const auto& [id, text] : {std::pair("a", "18 degrees"), {"b", "rain"}}) {
    request.messages.push_back(message(Role::tool, text));
    request.messages.back().tool_call_id = id;
  }
  EXPECT_THAT(said(request), ElementsAre("text one says: 18 degrees\ntwo says: rain"));
  request.messages.push_back(message(Role::assistant, "So"));
  EXPECT_THAT(said(request), ElementsAre("text one says: 18 degrees\ntwo says: rain"));
  request.messages.push_back(message(Role::user, "Ask again"));
  EXPECT_EQ(said(request).size(), 2u);
}

TEST(DemoModel, talks_without_tools) {
  EXPECT_THAT(said(user_request("Good day")),
              ElementsAre("text Hello from the demo model behind callgate. You said: \"Good day\". "
                          "Declare a tool, and I will call it."));
  EXPECT_THAT(said(Request{}).at(0), HasSubstr("Say something"));
}

TEST(DemoModel, reasons_when_told_to_think) {
  EXPECT_THAT(said(user_request("Please think")).at(0), HasSubstr("reasoning The user wants"));
}

TEST(DemoModel, quotes_a_long_text_in_part_and_in_whole_characters) {
  std::string text;
  for (int i = 0; i < 2000; ++i) text += "\xC3\xA9";
  const std::string line = said(user_request("x" + text)).at(0);
  EXPECT_LT(line.size(), 2200u);
  EXPECT_THAT(line, HasSubstr("\xC3\xA9...\""));
}

}  // namespace
}  // namespace callgate::script::demo_model_test
