#include "json/integer.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace callgate::json {
namespace {

// Far outside of what 64 bits hold, far inside of what adding the digits of a text to it can overflow.
constexpr std::int64_t kExponentLimit = std::int64_t{1} << 40;

// The value of `exponent`, a text such as "+05", clamped to the limit.
std::int64_t to_exponent(std::string_view exponent) {
  const bool negative = exponent.starts_with('-');
  if (negative || exponent.starts_with('+')) exponent.remove_prefix(1);
  std::int64_t value = 0;
  for (const char c : exponent) value = std::min(value * 10 + (c - '0'), kExponentLimit);
  return negative ? -value : value;
}

// `whole` and `fraction` as one row of digits times ten to `exponent`; false when it is no 64-bit integer.
bool scale(std::string_view whole, std::string_view fraction, std::int64_t exponent,
           std::uint64_t& value) {
  const auto digits = static_cast<std::int64_t>(whole.size() + fraction.size());
  const std::int64_t wanted = static_cast<std::int64_t>(whole.size()) + exponent;
  for (std::int64_t i = 0; i < std::max(digits, wanted); ++i) {
    const auto at = static_cast<std::size_t>(i);
    char digit = '0';
    if (i < digits) digit = at < whole.size() ? whole[at] : fraction[at - whole.size()];
    if (i >= wanted) {
      if (digit != '0') return false;
      continue;
    }
    if (i >= digits && value == 0) return true;
    const auto add = static_cast<std::uint64_t>(digit - '0');
    if (value > (std::numeric_limits<std::uint64_t>::max() - add) / 10) return false;
    value = value * 10 + add;
  }
  return true;
}

}  // namespace

std::optional<std::int64_t> to_integer(std::string_view number) {
  const char* const end = number.data() + number.size();
  std::int64_t plain = 0;
  const auto read = std::from_chars(number.data(), end, plain);
  if (read.ptr == end) return read.ec == std::errc() ? std::optional(plain) : std::nullopt;
  const bool negative = number.starts_with('-');
  if (negative) number.remove_prefix(1);
  const std::size_t mark = std::min(number.find_first_of("eE"), number.size());
  const std::string_view mantissa = number.substr(0, mark);
  const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
  const std::string_view fraction = mantissa.substr(std::min(point + 1, mantissa.size()));
  const std::int64_t exponent = mark == number.size() ? 0 : to_exponent(number.substr(mark + 1));

  std::uint64_t value = 0;
  if (!scale(mantissa.substr(0, point), fraction, exponent, value)) return std::nullopt;
  constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (value > kMax + (negative ? 1 : 0)) return std::nullopt;
  return static_cast<std::int64_t>(negative ? 0 - value : value);
}

}  // namespace callgate::json
