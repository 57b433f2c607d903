// The integer that a JSON number stands for: 7, -7, 7.0, 70e-1.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace callgate::json {

// Nothing when `number` has a fraction or does not fit.
// REQUIRES: `number` is a valid JSON number.
std::optional<std::int64_t> to_integer(std::string_view number);

}  // namespace callgate::json
