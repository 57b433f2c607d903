// A time as RFC 3339 writes it: 2026-11-16T03:00:00Z
#pragma once

#include <cstdint>
#include <string>

namespace callgate {

std::string print_utc(std::int64_t unix_seconds);

}  // namespace callgate
