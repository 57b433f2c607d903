#include "base/quoted.h"

#include <gtest/gtest.h>

namespace callgate::quoted_test {
namespace {

TEST(Quoted, keeps_short_words_and_cuts_long_ones) {
  EXPECT_EQ(in_quotes("gpt-4o"), "\"gpt-4o\"");
  EXPECT_EQ(in_quotes(std::string(kLongestQuote, 'a')),
            '"' + std::string(kLongestQuote, 'a') + '"');
  EXPECT_EQ(shortened("abcdef", 3), "abc...");
  EXPECT_LT(in_quotes(std::string(1 << 20, 'a')).size(), kLongestQuote + 10);
}

TEST(Quoted, never_cuts_a_character_in_two) {
  EXPECT_EQ(shortened("aé", 2), "a...");
  EXPECT_EQ(shortened("\xe2\x82\xac\xe2\x82\xac", 4), "\xe2\x82\xac...");
  // Bytes that are no characters: something is left out all the same.
  EXPECT_EQ(shortened(std::string(9, '\x80'), 4), "...");
}

}  // namespace
}  // namespace callgate::quoted_test
