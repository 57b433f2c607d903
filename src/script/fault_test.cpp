#include "script/fault.h"

#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "base/source_path_testing.h"
#include "script/reply/reply_testing.h"

namespace callgate::script::fault_test {
namespace {

std::string page() {
  std::ifstream file(source_path("docs/script.md"));
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(Fault, has_a_name_for_each_value) {
  for (std::size_t i = 0; i < kFaultCount; ++i) {
    EXPECT_EQ(find_fault(fault_names()[i]), static_cast<Fault>(i));
  }
  EXPECT_EQ(find_fault("no_index"), Fault::no_index);
  EXPECT_EQ(find_fault("no_last_blank"), Fault::no_last_blank);
  EXPECT_FALSE(find_fault("no_such_fault").has_value());
}

TEST(Fault, is_listed_in_the_documentation_in_the_same_order) {
  const std::string text = page();
  const std::size_t table = text.find("| fault | effect |");
  ASSERT_NE(table, std::string::npos);
  std::vector<std::string> listed;
  std::istringstream lines(text.substr(table));
  for (std::string line; std::getline(lines, line) && line.starts_with("|");) {
    if (line.starts_with("| `")) listed.push_back(line.substr(3, line.find('`', 3) - 3));
  }
  EXPECT_THAT(listed, testing::ElementsAreArray(fault_names().begin(), fault_names().end()));
}

// The examples of the documentation.
std::vector<std::string> examples() {
  const std::string text = page();
  std::vector<std::string> found;
  for (std::size_t at = text.find("```script\n"); at != std::string::npos;
       at = text.find("```script\n", at + 1)) {
    const std::size_t begin = at + 10;
    found.push_back(text.substr(begin, text.find("```", begin) - begin));
  }
  return found;
}

TEST(Documentation, has_examples_that_play) {
  const std::vector<std::string> all = examples();
  ASSERT_EQ(all.size(), 4u);
  ScriptedModel turn(script_of(all[0]));
  EXPECT_EQ(play(turn.reply(user_request())).actions.front(), "respond 429");
  Request request = user_request();
  request.tools.push_back({.name = "get_weather"});
  EXPECT_EQ(count_in(play(turn.reply(request)).bytes, "\"id\":\"call_rome\""), 1u);

  ScriptedModel faulty(script_of(all[1]));
  EXPECT_EQ(play(faulty.reply(user_request())).actions.front(), "write 3");
  request = user_request();
  request.messages.push_back(message(Role::assistant, "a"));
  request.messages.push_back(message(Role::assistant, "b"));
  EXPECT_EQ(play(faulty.reply(request)).actions.back(), "reset");

  ScriptedModel load(script_of(all[2]));
  EXPECT_EQ(play(load.reply(user_request())).actions.size(), 1u);
  EXPECT_EQ(count_in(play(load.reply(user_request())).bytes, "word \""), 300u);
  const std::string whole = play(load.reply(user_request("Hi", false))).body;
  EXPECT_EQ(count_in(whole, "kilobyte"), 16u);
  request.model = "paced-1";
  EXPECT_EQ(play(load.reply(request)).actions.front(), "wait 20");

  ScriptedModel parserless(script_of(all[3]));
  request = user_request();
  EXPECT_EQ(count_in(play(parserless.reply(request)).bytes, "Hello."), 1u);
  request.tools.push_back({.name = "get_weather"});
  EXPECT_EQ(play(parserless.reply(request)).actions.front(), "respond 400");
  request.tool_choice.mode = ToolChoice::Mode::none;
  EXPECT_EQ(count_in(play(parserless.reply(request)).bytes, "<tool_call>"), 1u);
}

}  // namespace
}  // namespace callgate::script::fault_test
