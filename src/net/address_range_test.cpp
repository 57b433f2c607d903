#include "net/address_range.h"

#include <gtest/gtest.h>

#include "net/address.h"

namespace callgate::net {
namespace {

TEST(AddressKind, knows_what_is_not_the_internet) {
  struct Row {
    const char* address;
    AddressKind kind;
  };
  const Row rows[] = {
      {"127.0.0.1", AddressKind::loopback},
      {"127.255.0.9", AddressKind::loopback},
      {"::1", AddressKind::loopback},
      {"::ffff:127.0.0.1", AddressKind::loopback},
      {"64:ff9b::7f00:1", AddressKind::loopback},
      {"2002:7f00:1::", AddressKind::loopback},
      {"10.1.2.3", AddressKind::private_network},
      {"172.31.255.255", AddressKind::private_network},
      {"172.32.0.0", AddressKind::global},
      {"192.168.1.1", AddressKind::private_network},
      {"100.100.100.200", AddressKind::private_network},
      {"fd00:ec2::254", AddressKind::private_network},
      {"169.254.169.254", AddressKind::link_local},
      {"::ffff:169.254.169.254", AddressKind::link_local},
      {"fe80::1", AddressKind::link_local},
      {"febf::1", AddressKind::link_local},
      {"224.0.0.1", AddressKind::multicast},
      {"ff02::1", AddressKind::multicast},
      {"0.0.0.0", AddressKind::reserved},
      {"::", AddressKind::reserved},
      {"255.255.255.255", AddressKind::reserved},
      {"168.63.129.16", AddressKind::reserved},
      {"2001:db8::1", AddressKind::reserved},
      {"8.8.8.8", AddressKind::global},
      {"2606:4700::1111", AddressKind::global},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(kind_of(numeric_address(row.address, 80)), row.kind) << row.address;
  }
  EXPECT_EQ(kind_of(unix_address("/run/x")), AddressKind::local_socket);
}

TEST(AddressRange, contains_what_its_prefix_covers) {
  const auto contains = [](const char* range, const char* address) {
    return AddressRange::parse(range)->contains(numeric_address(address, 1));
  };
  EXPECT_TRUE(contains("10.0.0.0/8", "10.255.1.1"));
  EXPECT_FALSE(contains("10.0.0.0/8", "11.0.0.0"));
  EXPECT_TRUE(contains("127.0.0.1", "127.0.0.1"));
  EXPECT_TRUE(contains("127.0.0.1", "::ffff:127.0.0.1"));
  EXPECT_FALSE(contains("127.0.0.1", "127.0.0.2"));
  EXPECT_TRUE(contains("fd00::/12", "fd0f::1"));
  EXPECT_FALSE(contains("fd00::/12", "fd10::1"));
  EXPECT_TRUE(contains("0.0.0.0/0", "9.9.9.9"));
  EXPECT_FALSE(contains("0.0.0.0/0", "2001::1"));
  for (const char* bad :
       {"", "host", "10.0.0.0/33", "::/129", "10.0.0.0/", "10.0.0.0/x", "1.2.3"}) {
    EXPECT_FALSE(AddressRange::parse(bad).has_value()) << bad;
  }
}

}  // namespace
}  // namespace callgate::net
