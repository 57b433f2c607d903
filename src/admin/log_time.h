// Times as the admin API writes and reads them: 2026-11-16T03:00:00.000Z
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace callgate::server {

std::string print_time(std::int64_t unix_ms);

// Decimal digits and nothing else; nothing for a number below zero or one that does not fit.
std::optional<std::int64_t> to_number(std::string_view text);

// 2026-11-16, 2026-11-16T03:00Z, 2026-11-16T03:00:00Z, 2026-11-16T03:00:00.000Z, Unix milliseconds, or so long ago:
// 90s, 15m, 2h, 7d.
std::optional<std::int64_t> to_time(std::string_view text, std::int64_t now_ms);

}  // namespace callgate::server
