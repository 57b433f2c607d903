#include "base/utc_time.h"

#include <gtest/gtest.h>

#include <limits>

namespace callgate::utc_time_test {
namespace {

TEST(UtcTime, is_written_as_rfc_3339_has_it) {
  EXPECT_EQ(print_utc(0), "1970-01-01T00:00:00Z");
  EXPECT_EQ(print_utc(1'700'000'000), "2023-11-14T22:13:20Z");
  EXPECT_EQ(print_utc(951'782'400), "2000-02-29T00:00:00Z");
  EXPECT_EQ(print_utc(-1), "1969-12-31T23:59:59Z");
}

TEST(UtcTime, has_four_digits_for_the_year) {
  EXPECT_EQ(print_utc(std::numeric_limits<std::int64_t>::max()), "9999-12-31T23:59:59Z");
  EXPECT_EQ(print_utc(std::numeric_limits<std::int64_t>::min()), "0000-01-01T00:00:00Z");
}

}  // namespace
}  // namespace callgate::utc_time_test
