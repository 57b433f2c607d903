#include "script/reply/json_edit.h"

#include <gtest/gtest.h>

namespace callgate::script::json_edit_test {
namespace {

std::string edited(std::string json, std::string_view path, std::string_view value) {
  value.empty() ? remove_json(json, path) : set_json(json, path, value);
  return json;
}

TEST(JsonEdit, changes_one_member_and_leaves_the_rest) {
  struct Row {
    std::string_view json, path, value, wanted;
  };
  for (const Row& row : std::initializer_list<Row>{
           {R"({"a":1,"b":{"c":2}})", "b.c", "3", R"({"a":1,"b":{"c":3}})"},
           {R"({"a":1,"b":{"c":2}})", "b.c", "", R"({"a":1,"b":{}})"},
           {R"({"a":1})", "b", "2", R"({"a":1,"b":2})"},
           {R"({"a":1})", "b.c", "2", R"({"a":1})"},
           {R"({"a":[{"b":1},{"b":2},3]})", "a.*.b", "", R"({"a":[{},{},3]})"},
           {R"({"a":[]})", "a.*.b", "1", R"({"a":[]})"},
           {R"({"a":[1,2]})", "a.*", "0", R"({"a":[0,0]})"},
           {R"({"delta":{"x":1},"message":{"x":2}})", "delta|message.x", "0",
            R"({"delta":{"x":0},"message":{"x":0}})"},
           {R"({"a":"\"b\":1","n":1.50})", "b", "", R"({"a":"\"b\":1","n":1.50})"},
           {"[1]", "a", "2", "[1]"},
       }) {
    EXPECT_EQ(edited(std::string(row.json), row.path, row.value), row.wanted);
  }
}

TEST(JsonEdit, finds_values) {
  EXPECT_EQ(json_at(R"({"a":[{"b":1},{"b":"x"}]})", "a.*.b"), "\"x\"");
  EXPECT_EQ(json_at(R"({"a":{}})", "a.b"), "");
}

}  // namespace
}  // namespace callgate::script::json_edit_test
