#include "chat/usage.h"

#include <gtest/gtest.h>

namespace callgate::usage_test {
namespace {

std::string sum(std::initializer_list<std::string_view> turns) {
  std::string all;
  for (const std::string_view turn : turns) add_usage_json(all, turn);
  return all;
}

TEST(UsageJson, adds_numbers_member_by_member) {
  EXPECT_EQ(sum({R"({"prompt_tokens":3,"cost":0.25,"d":{"audio_tokens":1,"x":2}})",
                 R"({"prompt_tokens":4,"cost":0.5,"d":{"audio_tokens":5,"y":7},"new":1})"}),
            R"({"prompt_tokens":7,"cost":0.75,"d":{"audio_tokens":6,"x":2,"y":7},"new":1})");
}

TEST(UsageJson, takes_the_last_of_what_cannot_be_added) {
  EXPECT_EQ(sum({R"({"tier":"a","n":1,"list":[1]})", R"({"tier":"b","n":"2","list":[2]})"}),
            R"({"tier":"b","n":"2","list":[2]})");
}

TEST(UsageJson, passes_over_what_is_missing) {
  EXPECT_EQ(sum({"", R"({"a":1})", "", "[]", R"({"a":null})"}), R"({"a":1})");
}

TEST(Usage, of_several_turns_is_stated_if_every_one_is) {
  Usage all;
  add_usage(all, Usage{.prompt_tokens = 3});
  EXPECT_TRUE(all.prompt_stated);
  add_usage(all, Usage{.prompt_stated = false});
  EXPECT_FALSE(all.prompt_stated);
  EXPECT_TRUE(all.completion_stated);
}

}  // namespace
}  // namespace callgate::usage_test
