#include "admin/log_time.h"

#include <gtest/gtest.h>

namespace callgate::server::log_time_test {
namespace {

constexpr std::int64_t kNow = 1'800'000'000'000;

TEST(LogTime, reads_dates_and_times) {
  EXPECT_EQ(to_time("1970-01-02", kNow), 86'400'000);
  EXPECT_EQ(to_time("1970-01-01T03:04Z", kNow), 11'040'000);
  EXPECT_EQ(to_time("1970-01-01T03:04:05Z", kNow), 11'045'000);
  EXPECT_EQ(to_time("1970-01-01T03:04:05.678Z", kNow), 11'045'678);
  EXPECT_EQ(to_time("2026-11-16T23:59:60.999Z", kNow), to_time("2026-11-17", kNow).value() + 999);
  EXPECT_EQ(to_time("2024-02-29", kNow), 1'709'164'800'000);
  EXPECT_EQ(to_time("1234", kNow), 1'234);
}

TEST(LogTime, reads_how_long_ago) {
  EXPECT_EQ(to_time("90s", kNow), kNow - 90'000);
  EXPECT_EQ(to_time("15m", kNow), kNow - 900'000);
  EXPECT_EQ(to_time("2h", kNow), kNow - 7'200'000);
  EXPECT_EQ(to_time("7d", kNow), kNow - 604'800'000);
  EXPECT_EQ(to_time("999999s", kNow), kNow - 999'999'000);
}

TEST(LogTime, refuses_what_is_no_time) {
  for (const char* text : {"",
                           "s",
                           "-1s",
                           "1000000s",
                           "1w",
                           "1970-0101",
                           "1970-01-0",
                           "1970/01/02",
                           "1970-01/02",
                           "1970-13-01",
                           "1970-00-01",
                           "1970-01-32",
                           "2023-02-29",
                           "1970-01-01T",
                           "1970-01-01 03:04Z",
                           "1970-01-01T03:04",
                           "1970-01-01T24:00Z",
                           "1970-01-01T03:60Z",
                           "1970-01-01T03.04Z",
                           "1970-01-01T03:04:61Z",
                           "1970-01-01T03:04:05.67Z",
                           "1970-01-01T03:04:05.678",
                           "1970-01-01T03:04Zx",
                           "x",
                           "-5",
                           "1 2"}) {
    EXPECT_EQ(to_time(text, kNow), std::nullopt) << text;
  }
}

TEST(LogTime, reads_whole_numbers) {
  EXPECT_EQ(to_number("0"), 0);
  EXPECT_EQ(to_number("9223372036854775807"), INT64_MAX);
  for (const char* text : {"", "-1", "+1", "1x", "x1", " 1", "9223372036854775808"}) {
    EXPECT_EQ(to_number(text), std::nullopt) << text;
  }
}

TEST(LogTime, writes_what_it_reads) {
  EXPECT_EQ(print_time(0), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(print_time(11'045'678), "1970-01-01T03:04:05.678Z");
  EXPECT_EQ(to_time(print_time(kNow), 0), kNow);
}

}  // namespace
}  // namespace callgate::server::log_time_test
