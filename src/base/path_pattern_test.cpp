#include "base/path_pattern.h"

#include <gtest/gtest.h>

namespace callgate::path_pattern_test {
namespace {

TEST(PathPattern, without_a_star_matches_itself) {
  EXPECT_TRUE(path_matches("/v1/models", "/v1/models"));
  EXPECT_FALSE(path_matches("/v1/models", "/v1/models/"));
  EXPECT_FALSE(path_matches("/v1/models", "/v1/model"));
  EXPECT_FALSE(path_matches("/", ""));
}

TEST(PathPattern, a_star_stands_for_something) {
  EXPECT_TRUE(path_matches("/v1/models/*", "/v1/models/a/b"));
  EXPECT_FALSE(path_matches("/v1/models/*", "/v1/models/"));
  EXPECT_FALSE(path_matches("/v1/models/*", "/v1/modelsx"));
}

TEST(PathPattern, a_suffix_stands_at_the_end) {
  EXPECT_TRUE(path_matches("/m/*:count", "/m/a:count"));
  EXPECT_TRUE(path_matches("/m/*:count", "/m/a/b:count"));
  EXPECT_FALSE(path_matches("/m/*:count", "/m/:count"));
  EXPECT_FALSE(path_matches("/m/*:count", "/m/a:counts"));
  EXPECT_FALSE(path_matches("/m/*/input", "/m//input"));
}

}  // namespace
}  // namespace callgate::path_pattern_test
