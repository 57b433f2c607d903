#include "loop/tool_set.h"

#include <gtest/gtest.h>

namespace callgate::loop::tool_set_test {
namespace {

Tool tool_of(std::string name, std::string description = {}) {
  return {.spec = {.name = std::move(name), .description = std::move(description)}};
}

TEST(ToolSet, rules_decide_by_key_and_pattern) {
  struct Row {
    std::string_view what;
    std::string key;
    std::vector<ToolRule> rules;
    std::string expected;
  };
  const std::vector<Row> table{
      {"no rules", "k", {}, "read_a, read_b, drop"},
      {"deny", "k", {{.deny = {"drop"}}}, "read_a, read_b"},
      {"allow", "k", {{.allow = {"read_*"}}}, "read_a, read_b"},
      {"deny wins", "k", {{.allow = {"*"}, .deny = {"read_?"}}}, "drop"},
      {"of another key", "k", {{.key = "guest*", .deny = {"*"}}}, "read_a, read_b, drop"},
      {"of this key", "guest7", {{.key = "guest*", .allow = {"read_a"}}}, "read_a"},
      {"two that allow",
       "k",
       {{.allow = {"drop"}}, {.key = "k", .allow = {"read_b"}}},
       "read_b, drop"},
      {"no key", "", {{.key = "?*", .deny = {"drop"}}}, "read_a, read_b, drop"},
  };
  for (const Row& row : table) {
    const ToolSet tools(Request{}, {tool_of("read_a"), tool_of("read_b"), tool_of("drop")},
                        {.key = row.key, .rules = row.rules});
    EXPECT_EQ(tools.names(false), row.expected) << row.what;
  }
}

TEST(ToolSet, a_tool_that_the_client_declares_is_the_clients) {
  Request request;
  request.tools = {{.name = "a"}, {.name = "read_result"}};
  const ToolSet tools(request, {tool_of("a"), tool_of("b"), tool_of("b")}, {});
  EXPECT_EQ(tools.owner_of("a", true), ToolOwner::client);
  EXPECT_EQ(tools.owner_of("b", true), ToolOwner::callgate);
  EXPECT_EQ(tools.owner_of("c", true), ToolOwner::unknown);
  EXPECT_EQ(tools.owner_of("read_result", true), ToolOwner::client);
  EXPECT_EQ(tools.names(true), "b");
}

TEST(ToolSet, search_finds_by_words_of_name_and_description) {
  std::vector<Tool> catalogue{tool_of("get_weather", "The weather of a city today"),
                              tool_of("sendEmail", "Sends a mail to a person"),
                              tool_of("list_files", "Lists the files of a folder"),
                              tool_of("stock_price", "Price of a share today"),
                              tool_of("weather_alerts", "Warnings for a region")};
  struct Row {
    std::string query;
    std::vector<std::string_view> expected;  // in this order
  };
  const std::vector<Row> table{
      {"weather", {"get_weather", "weather_alerts"}},
      {"Which file is in the folder?", {"list_files"}},
      {"send an email", {"sendEmail"}},
      {"the price of stocks", {"stock_price"}},
      {"zebra", {}},
      {"", {}},
  };
  for (const Row& row : table) {
    ToolSet tools(Request{}, catalogue, {.find_tools_above = 2, .find_tools_limit = 2});
    const std::string text = tools.find("{\"query\":\"" + row.query + "\"}").text;
    std::size_t at = 0;
    for (const std::string_view name : row.expected) {
      at = text.find("- " + std::string(name), at);
      EXPECT_NE(at, text.npos) << row.query << " should find " << name << " in " << text;
    }
    EXPECT_EQ(row.expected.empty(), text.starts_with("No tool matches")) << text;
  }
}

TEST(ToolSet, a_search_shows_no_more_than_its_limit) {
  std::vector<Tool> catalogue;
  for (int i = 0; i < 30; ++i) catalogue.push_back(tool_of("tool_" + std::to_string(i)));
  ToolSet tools(Request{}, catalogue, {});
  EXPECT_EQ(tools.names(false), "find_tools");
  tools.find(R"({"query":"tool","limit":2})");
  EXPECT_EQ(tools.names(false), "tool_0, tool_1, find_tools");
  tools.find(R"({"query":"tool","limit":99})");
  EXPECT_EQ(tools.shown(false).size(), 6u);
}

TEST(ToolSet, a_search_skips_members_of_another_kind) {
  std::vector<Tool> catalogue;
  for (int i = 0; i < 30; ++i) catalogue.push_back(tool_of("tool_" + std::to_string(i)));
  for (const std::string_view arguments :
       {R"({"limit":"2","query":"tool"})", R"({"limit":0,"query":"tool"})",
        R"({"limit":-1,"query":"tool"})", R"({"limit":1e99,"x":[{}],"query":"tool"})"}) {
    ToolSet tools(Request{}, catalogue, {});
    tools.find(arguments);
    EXPECT_EQ(tools.shown(false).size(), 6u) << arguments;
  }
  ToolSet tools(Request{}, catalogue, {});
  tools.find(R"({"query":["tool"],"limit":1})");
  EXPECT_EQ(tools.names(false), "find_tools") << "a query that is not a string finds nothing";
}

TEST(ToolSet, a_tool_that_the_caller_insists_on_is_shown) {
  Request request;
  request.tool_choice = {.mode = ToolChoice::Mode::named, .name = "b"};
  const ToolSet tools(request, {tool_of("a"), tool_of("b")}, {.find_tools_above = 1});
  EXPECT_EQ(tools.names(false), "b, find_tools");
}

}  // namespace
}  // namespace callgate::loop::tool_set_test
