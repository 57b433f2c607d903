#include "base/utc_time.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace callgate {

std::string print_utc(std::int64_t unix_seconds) {
  // The years 0 to 9999, which have four digits.
  constexpr std::int64_t kFirst = -62'167'219'200;
  constexpr std::int64_t kLast = 253'402'300'799;
  const std::chrono::sys_seconds time{
      std::chrono::seconds(std::clamp(unix_seconds, kFirst, kLast))};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  char text[32];
  const int length =
      std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02dZ", int(date.year()),
                    unsigned(date.month()), unsigned(date.day()), int(clock.hours().count()),
                    int(clock.minutes().count()), int(clock.seconds().count()));
  return {text, static_cast<std::size_t>(length)};
}

}  // namespace callgate
