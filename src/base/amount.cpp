#include "base/amount.h"

#include <algorithm>

namespace callgate {
namespace {

constexpr int kPlaces = 9;
constexpr std::size_t kMostWholeDigits = 10;

bool is_all_digits(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::string print_amount(std::int64_t billionths) {
  std::string text = billionths < 0 ? "-" : "";
  const std::uint64_t size = billionths < 0 ? 0 - static_cast<std::uint64_t>(billionths)
                                            : static_cast<std::uint64_t>(billionths);
  text += std::to_string(size / kBillionths);
  const std::string places = std::to_string(size % kBillionths);
  if (places == "0") return text;
  text += '.' + std::string(kPlaces - places.size(), '0') + places;
  text.erase(text.find_last_not_of('0') + 1);
  return text;
}

std::optional<std::int64_t> parse_amount(std::string_view text) {
  const std::size_t point = std::min(text.find('.'), text.size());
  const std::string_view whole = text.substr(0, point);
  std::string places(text.substr(std::min(point + 1, text.size())));
  const bool ends_with_point = point + 1 == text.size();
  if (whole.empty() || whole.size() > kMostWholeDigits || ends_with_point) return std::nullopt;
  if (!is_all_digits(whole) || !is_all_digits(places)) return std::nullopt;
  places.resize(kPlaces, '0');
  const std::int64_t units = std::stoll(std::string(whole));
  if (units > kBillionths) return std::nullopt;
  return units * kBillionths + std::stoll(places);
}

}  // namespace callgate
