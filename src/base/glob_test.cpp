#include "base/glob.h"

#include <gtest/gtest.h>

namespace callgate::glob_test {
namespace {

TEST(Glob, matches_stars_and_question_marks) {
  EXPECT_TRUE(glob_matches("*", ""));
  EXPECT_TRUE(glob_matches("gpt-*", "gpt-5"));
  EXPECT_TRUE(glob_matches("*kimi*", "moonshotai/kimi-k2"));
  EXPECT_TRUE(glob_matches("a?c", "abc"));
  EXPECT_TRUE(glob_matches("*ab*ab", "aabab-abab"));
  EXPECT_FALSE(glob_matches("gpt-*", "claude"));
  EXPECT_FALSE(glob_matches("a*b", "axc"));
  EXPECT_FALSE(glob_matches("a?c", "ac"));
  EXPECT_FALSE(glob_matches("", "a"));
}

TEST(Glob, looks_at_case_unless_told_otherwise) {
  EXPECT_FALSE(glob_matches("*kimi*", "Kimi-K2"));
  EXPECT_TRUE(glob_matches("*kimi*", "Kimi-K2", Case::ignored));
}

}  // namespace
}  // namespace callgate::glob_test
