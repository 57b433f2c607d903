#include "base/secret.h"

#include <gtest/gtest.h>

#include <sstream>

namespace callgate {
namespace {

TEST(Secret, matches_itself_alone) {
  const Secret secret("abcdef");
  EXPECT_TRUE(secret.matches("abcdef"));
  EXPECT_FALSE(secret.matches("abcdeg"));
  EXPECT_FALSE(secret.matches("abcde"));
  EXPECT_FALSE(secret.matches("abcdefabcdef"));
  EXPECT_FALSE(secret.matches(""));
  EXPECT_FALSE(Secret().matches(""));
}

TEST(Secret, shows_nothing_but_the_end_of_a_long_one) {
  EXPECT_EQ(Secret("short").mask(), "***");
  EXPECT_EQ(Secret("sk-0123456789abcd").mask(), "***abcd");
  EXPECT_EQ(Secret().mask(), "");
  std::ostringstream out;
  out << Secret("hidden");
  EXPECT_EQ(out.str(), "***");
}

}  // namespace
}  // namespace callgate
