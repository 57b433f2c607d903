// What tokens cost, as [[price]] says it. Nothing else sets prices: a missing one is reported, never guessed.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "callgate/event.h"
#include "config/config.h"

namespace callgate::server {

// The first that fits both names; nullptr if none does.
const PriceConfig* find_price(const std::vector<PriceConfig>& prices, std::string_view model,
                              std::string_view upstream);

// In billionths of the currency. Cached tokens are part of the prompt's.
std::int64_t cost_of(const PriceConfig& price, const Usage& usage);

}  // namespace callgate::server
