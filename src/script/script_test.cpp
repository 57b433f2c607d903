#include "script/script.h"

#include "script/reply/reply_testing.h"

namespace callgate::script::script_test {
namespace {

Request second_turn() {
  Request request = user_request("weather in Paris");
  Message assistant{.role = Role::assistant};
  assistant.calls.push_back({.id = "c", .name = "f", .arguments = "{}"});
  request.messages.push_back(assistant);
  request.messages.push_back(message(Role::tool, "18 degrees"));
  request.tool_choice.mode = ToolChoice::Mode::none;
  return request;
}

TEST(Script, holds_each_condition_against_the_request) {
  const Request first = user_request("weather in Paris");
  const Request second = second_turn();
  const struct {
    std::string_view when;
    bool first;
    bool second;
  } cases[] = {
      {"when model m", true, true},
      {"when model \"x*\"", false, false},
      {"when last user", true, false},
      {"when last tool", false, true},
      {"when turn 0", true, false},
      {"when turn 0 on", true, true},
      {"when turn 1 on", false, true},
      {"when user contains \"Paris\"", true, true},
      {"when tool contains \"18\"", false, true},
      {"when system contains \"18\"", false, false},
      {"when tools", false, false},
      {"when no_tools", true, true},
      {"when tool_choice auto", true, false},
      {"when tool_choice none", false, true},
      {"when tool_choice named", false, false},
      {"when stream", true, true},
      {"when whole", false, false},
      {"when last user\nwhen turn 1", false, false},
  };
  for (const auto& row : cases) {
    const Script script = script_of("rule r\n" + std::string(row.when));
    EXPECT_EQ(script.rules.at(0).when.matches(first), row.first) << row.when;
    EXPECT_EQ(script.rules.at(0).when.matches(second), row.second) << row.when;
  }
}

}  // namespace
}  // namespace callgate::script::script_test
