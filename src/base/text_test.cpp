#include "base/text.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace callgate::text_test {
namespace {

TEST(Text, white_space_is_that_of_json) {
  for (int c = 0; c < 256; ++c) {
    const char byte = static_cast<char>(c);
    EXPECT_EQ(is_space(byte), kSpace.find(byte) != std::string_view::npos) << c;
    EXPECT_EQ(is_space_or_tab(byte), byte == ' ' || byte == '\t') << c;
    EXPECT_EQ(is_digit(byte), std::string_view("0123456789").find(byte) != std::string_view::npos)
        << c;
  }
  EXPECT_TRUE(is_space('\n'));
  EXPECT_FALSE(is_space('\f'));
}

TEST(Text, blank_is_nothing_but_white_space) {
  EXPECT_TRUE(is_blank(""));
  EXPECT_TRUE(is_blank(" \r\n\t"));
  EXPECT_FALSE(is_blank(" x "));
  EXPECT_FALSE(is_blank("\v"));
}

TEST(Text, trims_both_ends_and_nothing_between) {
  EXPECT_EQ(trimmed(" \n a b\t\r"), "a b");
  EXPECT_EQ(trimmed("a"), "a");
  EXPECT_EQ(trimmed(""), "");
  const std::string_view blank = " \n";
  EXPECT_EQ(trimmed(blank), "");
  EXPECT_EQ(trimmed(blank).data(), blank.data());
}

TEST(Text, the_value_of_a_header_keeps_its_line_ends) {
  EXPECT_EQ(trimmed_value("\t a\tb \t"), "a\tb");
  EXPECT_EQ(trimmed_value(" \r\n "), "\r\n");
  EXPECT_EQ(trimmed_value(" \t"), "");
}

TEST(Text, lower_case_is_for_ascii_letters) {
  EXPECT_EQ(to_lower("@AZ[`az{ \xC3\x84"), "@az[`az{ \xC3\x84");
  EXPECT_EQ(to_lower(""), "");
}

TEST(Text, numbers_are_appended_in_decimal) {
  std::string out = "n";
  append_number(out, std::size_t{0});
  append_number(out, std::numeric_limits<std::int64_t>::min());
  append_number(out, 0.1);
  EXPECT_EQ(out, "n0-92233720368547758080.1");
}

TEST(Text, a_number_that_is_too_large_is_the_largest) {
  constexpr std::uint64_t kLargest = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(saturated_number("0"), 0u);
  EXPECT_EQ(saturated_number("0042"), 42u);
  EXPECT_EQ(saturated_number("9999999999"), 9'999'999'999u);
  EXPECT_EQ(saturated_number("18446744073709551615"), kLargest);
  EXPECT_EQ(saturated_number("18446744073709551616"), kLargest);
  EXPECT_EQ(saturated_number(std::string(1000, '9')), kLargest);
  for (const std::string_view wrong : {"", "-1", "+1", "1 ", "1.5", "x"}) {
    EXPECT_FALSE(saturated_number(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace callgate::text_test
