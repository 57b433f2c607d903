#include "config/price.h"

#include <algorithm>
#include <cmath>

#include "base/glob.h"

namespace callgate::server {

const PriceConfig* find_price(const std::vector<PriceConfig>& prices, std::string_view model,
                              std::string_view upstream) {
  for (const PriceConfig& price : prices) {
    if (glob_matches(price.model, model) && glob_matches(price.upstream, upstream)) return &price;
  }
  return nullptr;
}

std::int64_t cost_of(const PriceConfig& price, const Usage& usage) {
  // A price for a million tokens is as many thousand billionths for one.
  constexpr double kPerToken = 1'000.0;
  const std::int64_t cached = std::clamp<std::int64_t>(usage.cached_tokens, 0, usage.prompt_tokens);
  const double cached_price = price.cached < 0 ? price.input : price.cached;
  const double cost = static_cast<double>(usage.prompt_tokens - cached) * price.input +
                      static_cast<double>(cached) * cached_price +
                      static_cast<double>(usage.completion_tokens) * price.output;
  return std::llround(cost * kPerToken);
}

}  // namespace callgate::server
