#include "base/amount.h"

#include <gtest/gtest.h>

namespace callgate::amount_test {
namespace {

TEST(Amount, is_printed_as_short_as_it_can_be) {
  EXPECT_EQ(print_amount(0), "0");
  EXPECT_EQ(print_amount(12'500'000'000), "12.5");
  EXPECT_EQ(print_amount(3), "0.000000003");
  EXPECT_EQ(print_amount(-1'000'000'001), "-1.000000001");
  EXPECT_EQ(print_amount(INT64_MIN), "-9223372036.854775808");
}

TEST(Amount, is_read_as_it_is_printed) {
  for (const std::int64_t amount : {std::int64_t{0}, std::int64_t{3}, std::int64_t{12'500'000'000},
                                    std::int64_t{999'999'999'999}}) {
    EXPECT_EQ(parse_amount(print_amount(amount)), amount);
  }
  EXPECT_EQ(parse_amount("1.50"), 1'500'000'000);
  EXPECT_EQ(parse_amount("0.0000000019"), 1) << "what is smaller than a billionth is not there";
  for (const char* wrong : {"", ".", "1.", ".5", "-1", "1e3", "1.2.3", "99999999999", "1 "}) {
    EXPECT_EQ(parse_amount(wrong), std::nullopt) << wrong;
  }
}

TEST(Amount, of_a_decimal_fraction_is_exact) {
  EXPECT_EQ(to_billionths(0.1), 100'000'000);
  EXPECT_EQ(to_billionths(2.5), 2'500'000'000);
}

}  // namespace
}  // namespace callgate::amount_test
