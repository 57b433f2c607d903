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
    {{192, 168, 0, 0}, 16, AddressKind::private_network},
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

constexpr Row6 kRows6[] = {
    {{0x01, 0x00}, 64, AddressKind::reserved},
    {{0x20, 0x01, 0x00, 0x00}, 32, AddressKind::reserved},
    {{0x20, 0x01, 0x0d, 0xb8}, 32, AddressKind::reserved},
    {{0xfc}, 7, AddressKind::private_network},
    {{0xfe, 0x80}, 10, AddressKind::link_local},
    {{0xfe, 0xc0}, 10, AddressKind::reserved},
    {{0xff}, 8, AddressKind::multicast},
};

AddressKind kind_of_v4(const std::uint8_t* bytes) {
  for (const Row4& row : kRows4) {
    if (matches(bytes, row.first.data(), row.prefix)) return row.kind;
  }
  return AddressKind::global;
}

// Where an IPv4 address lies inside an IPv6 one, if it does.
const std::uint8_t* embedded_v4(const Bytes& bytes) {
  constexpr Bytes kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  constexpr Bytes kCompatible{};
  constexpr Bytes kNat64{0x00, 0x64, 0xff, 0x9b};
  constexpr Bytes k6to4{0x20, 0x02};
  if (matches(bytes.data(), kMapped.data(), 96) || matches(bytes.data(), kCompatible.data(), 96) ||
      matches(bytes.data(), kNat64.data(), 96)) {
    return bytes.data() + 12;
  }
  return matches(bytes.data(), k6to4.data(), 16) ? bytes.data() + 2 : nullptr;
}

}  // namespace

AddressKind kind_of(const Address& address) {
  const std::optional<Bytes> bytes = bytes_of(address);
  if (!bytes) return AddressKind::local_socket;
  constexpr Bytes kLoopback{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  if (*bytes == kLoopback) return AddressKind::loopback;
  if (const std::uint8_t* v4 = embedded_v4(*bytes)) return kind_of_v4(v4);
  for (const Row6& row : kRows6) {
    if (matches(bytes->data(), row.first.data(), row.prefix)) return row.kind;
  }
  return AddressKind::global;
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
