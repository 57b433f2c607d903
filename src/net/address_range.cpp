#include "net/address_range.h"

#include <netinet/in.h>

#include <charconv>
#include <cstring>

#include "net/address.h"

namespace callgate::net {
namespace {

using Bytes = std::array<std::uint8_t, 16>;

std::optional<Bytes> bytes_of(const Address& address) {
  Bytes bytes{};
  if (address.family() == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address.storage);
    bytes[10] = bytes[11] = 0xff;
    std::memcpy(bytes.data() + 12, &v4.sin_addr, 4);
    return bytes;
  }
  if (address.family() != AF_INET6) return std::nullopt;
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address.storage);
  std::memcpy(bytes.data(), &v6.sin6_addr, 16);
  return bytes;
}

bool matches(const std::uint8_t* a, const std::uint8_t* b, unsigned bits) {
  const unsigned whole = bits / 8;
  if (std::memcmp(a, b, whole) != 0) return false;
  if (bits % 8 == 0) return true;
  const auto mask = static_cast<std::uint8_t>(0xff << (8 - bits % 8));
  return (a[whole] & mask) == (b[whole] & mask);
}

struct Row4 {
  std::array<std::uint8_t, 4> first;
  unsigned prefix;
  AddressKind kind;
};

// The IANA IPv4 special-purpose address registry, multicast, and the address of one cloud's agent.
constexpr Row4 kRows4[] = {
    {{0, 0, 0, 0}, 8, AddressKind::reserved},
    {{10, 0, 0, 0}, 8, AddressKind::private_network},
    {{100, 64, 0, 0}, 10, AddressKind::private_network},
    {{127, 0, 0, 0}, 8, AddressKind::loopback},
    {{168, 63, 129, 16}, 32, AddressKind::reserved},
    {{169, 254, 0, 0}, 16, AddressKind::link_local},
    {{172, 16, 0, 0}, 12, AddressKind::private_network},
    {{192, 0, 0, 0}, 24, AddressKind::reserved},
    {{192, 0, 2, 0}, 24, AddressKind::reserved},
    {{192, 31, 196, 0}, 24, AddressKind::reserved},
    {{192, 52, 193, 0}, 24, AddressKind::reserved},
    {{192, 88, 99, 0}, 24, AddressKind::reserved},
    {{192, 168, 0, 0}, 16, AddressKind::private_network},
    {{192, 175, 48, 0}, 24, AddressKind::reserved},
    {{198, 18, 0, 0}, 15, AddressKind::reserved},
    {{198, 51, 100, 0}, 24, AddressKind::reserved},
    {{203, 0, 113, 0}, 24, AddressKind::reserved},
    {{224, 0, 0, 0}, 4, AddressKind::multicast},
    {{240, 0, 0, 0}, 4, AddressKind::reserved},
};

struct Row6 {
  Bytes first;
  unsigned prefix;
  AddressKind kind;
};

// The IANA IPv6 special-purpose address registry; what lies outside of 2000::/3 is nobody's unless a row says more.
constexpr Row6 kRows6[] = {
    {{0xfc}, 7, AddressKind::private_network},
    {{0xfe, 0x80}, 10, AddressKind::link_local},
    {{0xff}, 8, AddressKind::multicast},
    {{0x20, 0x01, 0x00}, 23, AddressKind::reserved},  // Teredo, ORCHID, DRIP, AMT, benchmarks
    {{0x20, 0x01, 0x0d, 0xb8}, 32, AddressKind::reserved},
    {{0x20, 0x02}, 16, AddressKind::reserved},  // 6to4
    {{0x26, 0x20, 0x00, 0x4f, 0x80, 0x00}, 48, AddressKind::reserved},
    {{0x3f, 0xff, 0x00}, 20, AddressKind::reserved},
    {{0x20}, 3, AddressKind::global},
    {{}, 0, AddressKind::reserved},
};

AddressKind kind_of_v4(const std::uint8_t* bytes) {
  for (const Row4& row : kRows4) {
    if (matches(bytes, row.first.data(), row.prefix)) return row.kind;
  }
  return AddressKind::global;
}

// A prefix after which an IPv4 address stands, and where.
struct Carrier {
  Bytes first;
  unsigned prefix;
  std::size_t at;
};

constexpr Carrier kCarriers[] = {
    {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, 96, 12},  // mapped
    {{}, 96, 12},                                          // compatible
    {{0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, 96, 12},        // translated (SIIT)
    {{0x00, 0x64, 0xff, 0x9b}, 96, 12},                    // NAT64
    {{0x20, 0x02}, 16, 2},                                 // 6to4
};

// ISATAP: the second half is 0000:5efe or 0200:5efe and the IPv4 address, after any prefix.
bool is_isatap(const Bytes& bytes) {
  return (bytes[8] & 0xfd) == 0 && bytes[9] == 0 && bytes[10] == 0x5e && bytes[11] == 0xfe;
}

// Nothing when no IPv4 address is inside. Of 6to4 only what is special counts: its relays are gone.
std::optional<AddressKind> kind_of_embedded(const Bytes& bytes) {
  for (const Carrier& carrier : kCarriers) {
    if (!matches(bytes.data(), carrier.first.data(), carrier.prefix)) continue;
    const AddressKind kind = kind_of_v4(bytes.data() + carrier.at);
    if (carrier.prefix == 96 || kind != AddressKind::global) return kind;
  }
  if (!is_isatap(bytes)) return std::nullopt;
  const AddressKind kind = kind_of_v4(bytes.data() + 12);
  return kind == AddressKind::global ? std::nullopt : std::optional(kind);
}

}  // namespace

AddressKind kind_of(const Address& address) {
  const std::optional<Bytes> bytes = bytes_of(address);
  if (!bytes) return AddressKind::local_socket;
  constexpr Bytes kLoopback{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  if (*bytes == kLoopback) return AddressKind::loopback;
  if (const auto embedded = kind_of_embedded(*bytes)) return *embedded;
  for (const Row6& row : kRows6) {
    if (matches(bytes->data(), row.first.data(), row.prefix)) return row.kind;
  }
  return AddressKind::reserved;
}

std::optional<AddressRange> AddressRange::parse(std::string_view text) {
  const std::size_t slash = text.find('/');
  const Address address = numeric_address(std::string(text.substr(0, slash)), 0);
  if (address.size == 0) return std::nullopt;
  AddressRange range;
  range.bytes_ = *bytes_of(address);
  if (slash == std::string_view::npos) return range;
  const std::string_view digits = text.substr(slash + 1);
  const unsigned most = address.family() == AF_INET ? 32 : 128;
  unsigned prefix = 0;
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), prefix);
  if (fault != std::errc() || end != digits.data() + digits.size() || prefix > most) {
    return std::nullopt;
  }
  range.prefix_ = 128 - most + prefix;
  return range;
}

bool AddressRange::contains(const Address& address) const {
  const std::optional<Bytes> bytes = bytes_of(address);
  return bytes && matches(bytes->data(), bytes_.data(), prefix_);
}

}  // namespace callgate::net
