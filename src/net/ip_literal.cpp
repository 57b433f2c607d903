#include "net/ip_literal.h"

#include <arpa/inet.h>

#include <algorithm>
#include <string>

namespace callgate::net {
namespace {

constexpr IpBytes kMappedPrefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
constexpr IpBytes kLoopback6{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};

}  // namespace

std::optional<IpBytes> parse_ip(std::string_view text) {
  if (text.find('\0') != std::string_view::npos) return std::nullopt;
  const std::string ended(text);
  IpBytes bytes = kMappedPrefix;
  if (::inet_pton(AF_INET, ended.c_str(), bytes.data() + 12) == 1) return bytes;
  if (::inet_pton(AF_INET6, ended.c_str(), bytes.data()) == 1) return bytes;
  return std::nullopt;
}

bool is_ipv4(const IpBytes& address) {
  return std::equal(address.begin(), address.begin() + 12, kMappedPrefix.begin());
}

bool is_loopback(const IpBytes& address) {
  return address == kLoopback6 || (is_ipv4(address) && address[12] == 127);
}

}  // namespace callgate::net
