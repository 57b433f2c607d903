// Which part of the internet an address belongs to, and ranges of addresses such as `10.0.0.0/8` or `::1`.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace callgate::net {

struct Address;

enum class AddressKind : std::uint8_t {
  global,           // anybody's
  loopback,         // 127.0.0.0/8, ::1
  private_network,  // 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, 100.64.0.0/10, fc00::/7
  link_local,       // 169.254.0.0/16, where clouds serve metadata; fe80::/10
  multicast,
  reserved,      // nobody's: 0.0.0.0/8, documentation, benchmarks, broadcast, a cloud's own agent
  local_socket,  // a Unix socket
};

// An IPv4 address inside an IPv6 one (mapped, compatible, translated, NAT64, 6to4, ISATAP) counts as what it is. The prefixes
// that a network chose for its own NAT64 or 6rd cannot be known here.
AddressKind kind_of(const Address& address);

class AddressRange {
 public:
  // Nothing when `text` is neither an address nor an address with a prefix length.
  static std::optional<AddressRange> parse(std::string_view text);
  bool contains(const Address& address) const;

 private:
  std::array<std::uint8_t, 16> bytes_{};  // IPv4 as ::ffff:a.b.c.d
  unsigned prefix_ = 128;
};

}  // namespace callgate::net
