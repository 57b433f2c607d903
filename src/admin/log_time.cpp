#include "admin/log_time.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <utility>

namespace callgate::server {
std::optional<std::int64_t> to_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

namespace {

// Reads a text of fixed parts; the first fault stays.
class Parts {
 public:
  explicit Parts(std::string_view text) : text_(text) {}

  std::int64_t digits(std::size_t count, std::int64_t most) {
    const auto number = to_number(text_.substr(0, count));
    if (text_.size() < count || !number || *number > most) ok_ = false;
    text_.remove_prefix(std::min(count, text_.size()));
    return ok_ ? *number : 0;
  }
  void expect(char c) { ok_ = skip(c) && ok_; }
  bool skip(char c) {
    if (!text_.starts_with(c)) return false;
    text_.remove_prefix(1);
    return true;
  }
  bool is_over() const { return text_.empty(); }
  bool ok() const { return ok_; }

 private:
  std::string_view text_;
  bool ok_ = true;
};

// Milliseconds of the day: 03:00[:00[.000]]Z
std::int64_t read_clock(Parts& parts) {
  std::int64_t ms = parts.digits(2, 23) * 3'600'000;
  parts.expect(':');
  ms += parts.digits(2, 59) * 60'000;
  if (parts.skip(':')) {
    ms += parts.digits(2, 60) * 1000;
    if (parts.skip('.')) ms += parts.digits(3, 999);
  }
  parts.expect('Z');
  return ms;
}

std::optional<std::int64_t> to_utc(std::string_view text) {
  using namespace std::chrono;
  Parts parts(text);
  const year y(static_cast<int>(parts.digits(4, 9999)));
  parts.expect('-');
  const month m(static_cast<unsigned>(parts.digits(2, 12)));
  parts.expect('-');
  const day d(static_cast<unsigned>(parts.digits(2, 31)));
  const year_month_day date(y, m, d);
  if (!parts.ok() || !date.ok()) return std::nullopt;
  const milliseconds begin = sys_days(date).time_since_epoch();
  if (parts.is_over()) return begin.count();
  parts.expect('T');
  const std::int64_t clock = read_clock(parts);
  if (!parts.ok() || !parts.is_over()) return std::nullopt;
  return begin.count() + clock;
}

std::optional<std::int64_t> to_span(std::string_view text) {
  constexpr std::pair<char, std::int64_t> kUnits[] = {
      {'s', 1000}, {'m', 60'000}, {'h', 3'600'000}, {'d', 86'400'000}};
  if (text.empty()) return std::nullopt;
  const auto number = to_number(text.substr(0, text.size() - 1));
  for (const auto& [unit, ms] : kUnits) {
    if (number && text.back() == unit && *number < 1'000'000) return *number * ms;
  }
  return std::nullopt;
}

}  // namespace

std::string print_time(std::int64_t unix_ms) {
  using namespace std::chrono;
  const sys_time<milliseconds> time{milliseconds(unix_ms)};
  const auto begin = floor<days>(time);
  const year_month_day date(begin);
  const hh_mm_ss clock(time - begin);
  char text[64];
  std::snprintf(
      text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ", static_cast<int>(date.year()),
      static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
      static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
      static_cast<int>(clock.seconds().count()), static_cast<int>(clock.subseconds().count()));
  return text;
}

std::optional<std::int64_t> to_time(std::string_view text, std::int64_t now_ms) {
  if (const auto span = to_span(text)) return now_ms - *span;
  if (const auto time = to_utc(text)) return time;
  return to_number(text);
}

}  // namespace callgate::server
