// Amounts of money in billionths of a currency, which a price of one token needs: whole numbers, so that sums are exact.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace callgate {

inline constexpr std::int64_t kBillionths = 1'000'000'000;

inline std::int64_t to_billionths(double amount) {
  return std::llround(amount * static_cast<double>(kBillionths));
}

// `12.5`, `0.000003`, `7`: as short as it can be, and a number in JSON.
std::string print_amount(std::int64_t billionths);

// The same back: digits with at most one point. Nothing for other texts, and for more than a billion.
std::optional<std::int64_t> parse_amount(std::string_view text);

}  // namespace callgate
