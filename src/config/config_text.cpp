#include "config/config_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <tuple>

namespace callgate::server {
namespace {

// Names that are compared letter by letter. A longer one is not a mistyped short one.
constexpr std::size_t kLongestName = 64;
// So many words are compared; with thousands of models a suggestion is worth no more than that.
constexpr std::size_t kMostCompared = 1000;

struct Unit {
  std::string_view name;
  std::uint64_t factor;
};
constexpr std::array<Unit, 5> kDurations{
    {{"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}}};
constexpr std::array<Unit, 4> kSizes{
    {{"", 1}, {"KiB", 1u << 10}, {"MiB", 1u << 20}, {"GiB", 1u << 30}}};

std::optional<std::uint64_t> parse_units(std::string_view text, std::span<const Unit> units) {
  std::uint64_t number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault != std::errc()) return std::nullopt;
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  for (const Unit& known : units) {
    if (known.name != unit) continue;
    if (number > (std::uint64_t{1} << 53) / known.factor) return std::nullopt;
    return number * known.factor;
  }
  return std::nullopt;
}

std::string print_units(std::uint64_t value, std::span<const Unit> units) {
  for (auto unit = units.rbegin(); unit != units.rend(); ++unit) {
    if (value % unit->factor == 0 && (value != 0 || unit->factor == 1)) {
      return std::to_string(value / unit->factor) + std::string(unit->name);
    }
  }
  return std::to_string(value);
}

// REQUIRES: neither is longer than kLongestName.
std::size_t distance(std::string_view a, std::string_view b) {
  std::array<std::size_t, kLongestName + 1> row;
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

}  // namespace

std::optional<Milliseconds> parse_duration(std::string_view text) {
  const auto value = parse_units(text, kDurations);
  if (!value) return std::nullopt;
  return Milliseconds(*value);
}

std::string print_duration(Milliseconds value) {
  // Days are read, but not printed: a day is 24h to most.
  return print_units(static_cast<std::uint64_t>(value.count()), std::span(kDurations).first(4));
}

std::optional<Bytes> parse_bytes(std::string_view text) {
  const auto value = parse_units(text, kSizes);
  if (!value) return std::nullopt;
  return Bytes{*value};
}

std::string print_bytes(Bytes value) { return print_units(value.count, kSizes); }

std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates) {
  std::string_view best;
  if (word.size() > kLongestName) return best;
  std::size_t best_distance = 2 * kLongestName;
  std::size_t left = kMostCompared;
  for (const std::string_view candidate : candidates) {
    if (candidate.size() > kLongestName) continue;
    // No distance is smaller than the difference of the lengths.
    const std::size_t longer = std::max(word.size(), candidate.size());
    if (longer - std::min(word.size(), candidate.size()) >= best_distance) continue;
    if (left-- == 0) break;
    const std::size_t found = distance(word, candidate);
    if (found < best_distance) std::tie(best_distance, best) = std::tie(found, candidate);
  }
  return best;
}

std::string suggestion(std::string_view word, std::span<const std::string_view> candidates,
                       char mark) {
  const std::string_view best = nearest(word, candidates);
  // When more than two thirds of it would have to change it is a guess.
  const std::size_t longer = std::max(word.size(), best.size());
  if (best.empty() || 3 * distance(word, best) > 2 * longer) return {};
  return std::string(", did you mean ") + mark + std::string(best) + mark + "?";
}

}  // namespace callgate::server
