#include "upstream/tool_names.h"

#include <gtest/gtest.h>

#include <vector>

namespace callgate::upstream::tool_names_test {
namespace {

const std::vector<ToolSpec> kTools{
    {.name = "get"}, {.name = "get_weather"}, {.name = "find"}, {.name = "fs.read"}};

TEST(ToolNames, takes_off_what_stands_around_a_name) {
  struct Row {
    std::string_view name;
    std::string_view declared;
    std::string_view unknown;  // when no tools are declared
  };
  for (const Row& row : {
           Row{"find", "find", "find"},
           Row{"functions.find", "find", "find"},
           Row{"functions.find:0", "find", "find"},
           Row{"find:12", "find", "find:12"},
           Row{"default_api.find", "find", "default_api.find"},
           Row{"tools/find", "find", "tools/find"},
           Row{"fs.read", "fs.read", "fs.read"},
           Row{"functions.fs.read", "fs.read", "fs.read"},
           Row{"find<|channel|>commentary", "find", "find"},
           Row{"assistant<|channel|>commentary to=functions.find<|constrain|>json", "find", "find"},
           Row{"find</tool_call>", "find", "find"},
           Row{"<|constrain|>find", "find", "<|constrain|>find"},
           Row{"find()", "find", "find()"},
           Row{"find{", "find", "find{"},
           Row{" find\n", "find", "find"},
           Row{"\"find\"", "find", "\"find\""},
           Row{"`fs.read`", "fs.read", "`fs.read`"},
           Row{"\"\"", "\"\"", "\"\""},
           Row{"functions.other", "other", "other"},
           Row{"a.other", "a.other", "a.other"},
           Row{"functions.", "functions.", "functions."},
           Row{"<|channel|>", "<|channel|>", "<|channel|>"},
           Row{"", "", ""},
       }) {
    EXPECT_EQ(ToolNames(kTools).cleaned(row.name), row.declared) << row.name;
    EXPECT_EQ(ToolNames().cleaned(row.name), row.unknown) << row.name;
  }
}

TEST(ToolNames, joins_pieces_by_what_is_declared) {
  struct Row {
    std::string_view name;
    std::string_view piece;
    std::string_view joined;
  };
  for (const Row& row : {
           Row{"get_wea", "ther", "get_weather"},
           Row{"get", "_weather", "get_weather"},
           Row{"get", "get_weather", "get_weather"},
           Row{"ge", "get_w", "get_w"},
           Row{"get_w", "ea", "get_wea"},
           Row{"functions", ".find", "functions.find"},
           Row{"fi", "get", ""},
           Row{"get", "find", ""},
           Row{"get", "other", ""},
           Row{"some", "_other", "some_other"},
           Row{"some", "some_other", "some_other"},
       }) {
    EXPECT_EQ(ToolNames(kTools).joined(row.name, row.piece, true, false), row.joined)
        << row.name << " " << row.piece;
  }
}

TEST(ToolNames, joins_nothing_without_a_sign_that_it_is_one_call) {
  EXPECT_EQ(ToolNames(kTools).joined("some", "_other", false, false), "");
  EXPECT_EQ(ToolNames(kTools).joined("get_wea", "ther", false, false), "get_weather");
  EXPECT_EQ(ToolNames().joined("get_wea", "ther", false, false), "");
  EXPECT_EQ(ToolNames().joined("get_wea", "ther", true, false), "get_weather");
  EXPECT_EQ(ToolNames(kTools).joined("unknown", "find", true, true), "find");
}

// How many tools there are beside the one that is meant makes no difference.
TEST(ToolNames, judges_the_same_among_many_tools) {
  std::vector<ToolSpec> many = kTools;
  for (int i = 0; i < 100; ++i) {
    many.push_back({.name = "z" + std::to_string(i), .parameters = {}});
  }
  const ToolNames few_names(kTools);
  const ToolNames many_names(many);
  for (const std::string_view name :
       {"get", "ge", "get_", "get_weather", "find", "fin", "finder", "fs", "functions.ge",
        "functions.find", "func", "other", ""}) {
    EXPECT_EQ(few_names.declares(name), many_names.declares(name)) << name;
    EXPECT_EQ(few_names.cleaned(name), many_names.cleaned(name)) << name;
    EXPECT_EQ(few_names.growth(name), many_names.growth(name)) << name;
    EXPECT_EQ(few_names.joined(name, "_weather", true, false),
              many_names.joined(name, "_weather", true, false))
        << name;
  }
}

}  // namespace
}  // namespace callgate::upstream::tool_names_test
