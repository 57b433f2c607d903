#include "json/member.h"

#include <gtest/gtest.h>

namespace callgate::json::member_test {
namespace {

TEST(Member, is_the_json_of_the_last_with_that_name) {
  EXPECT_EQ(member_json(R"({"a": 1, "b" : [1, {"a":2}] , "a":{"c":3}})", "a"), R"({"c":3})");
  EXPECT_EQ(member_json(R"({"a": 1, "b" : [1, {"a":2}] })", "b"), R"([1, {"a":2}])");
  EXPECT_EQ(member_json(R"({"\u0061":true})", "a"), "true");
  EXPECT_EQ(member_json(R"({"a":1})", "b"), "");
}

TEST(Member, is_empty_for_what_is_not_an_object) {
  for (const std::string_view text : {"", "null", "[1]", "\"a\"", "1", "}"}) {
    EXPECT_EQ(member_json(text, "a"), "") << text;
    EXPECT_EQ(given_member(text, "a"), "") << text;
    EXPECT_EQ(member_text(text, "a"), "") << text;
  }
}

TEST(Member, null_is_a_value_unless_only_given_members_count) {
  EXPECT_EQ(member_json(R"({"a":null})", "a"), "null");
  EXPECT_EQ(member_json(R"({"a":1,"a":null})", "a"), "null");
  EXPECT_EQ(given_member(R"({"a":null})", "a"), "");
  EXPECT_EQ(given_member(R"({"a":1,"a":null})", "a"), "1");
  EXPECT_EQ(given_member(R"({"a":"null"})", "a"), R"("null")");
}

TEST(Member, text_is_that_of_a_string_and_of_nothing_else) {
  EXPECT_EQ(member_text(R"({"a":"x\ny"})", "a"), "x\ny");
  EXPECT_EQ(member_text(R"({"a":1,"b":{"a":"x"}})", "a"), "");
  EXPECT_EQ(member_text(R"({"a":null})", "a"), "");
  EXPECT_EQ(member_text(R"({"a":["x"]})", "a"), "");
}

}  // namespace
}  // namespace callgate::json::member_test
