// Addresses written as text, without looking anything up: `127.0.0.1`, `2001:db8::1`. No brackets, no zone.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace callgate::net {

// In network order; IPv4 as ::ffff:a.b.c.d.
using IpBytes = std::array<std::uint8_t, 16>;

std::optional<IpBytes> parse_ip(std::string_view text);
bool is_ipv4(const IpBytes& address);
// 127.0.0.0/8 and ::1
bool is_loopback(const IpBytes& address);

}  // namespace callgate::net
