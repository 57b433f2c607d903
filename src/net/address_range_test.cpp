#include "net/address_range.h"

#include <gtest/gtest.h>

#include "net/address.h"

namespace callgate::net::address_range_test {
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
      {"192.0.0.192", AddressKind::reserved},
      {"192.0.0.171", AddressKind::reserved},
      {"192.0.2.255", AddressKind::reserved},
      {"192.31.196.1", AddressKind::reserved},
      {"192.52.193.1", AddressKind::reserved},
      {"192.88.99.1", AddressKind::reserved},
      {"192.175.48.6", AddressKind::reserved},
      {"198.19.255.255", AddressKind::reserved},
      {"198.51.100.1", AddressKind::reserved},
      {"203.0.113.1", AddressKind::reserved},
      {"240.0.0.1", AddressKind::reserved},
      {"0.255.255.255", AddressKind::reserved},
      {"::ffff:10.0.0.1", AddressKind::private_network},
      {"::10.0.0.1", AddressKind::private_network},
      {"::127.0.0.1", AddressKind::loopback},
      {"::ffff:0:127.0.0.1", AddressKind::loopback},
      {"::ffff:0:a9fe:a9fe", AddressKind::link_local},
      {"::ffff:0:8.8.8.8", AddressKind::global},
      {"64:ff9b::10.0.0.1", AddressKind::private_network},
      {"64:ff9b::8.8.8.8", AddressKind::global},
      {"64:ff9b:1::7f00:1", AddressKind::reserved},
      {"64:ff9b:1:fffe::8.8.8.8", AddressKind::reserved},
      {"64:ff9b::1:7f00:1", AddressKind::reserved},
      {"2002:a9fe:a9fe::1", AddressKind::link_local},
      {"2002:808:808::1", AddressKind::reserved},
      {"2001:0:7f00:1::", AddressKind::reserved},
      {"2001::1", AddressKind::reserved},
      {"2001:1::1", AddressKind::reserved},
      {"2001:2::1", AddressKind::reserved},
      {"2001:3::1", AddressKind::reserved},
      {"2001:4:112::1", AddressKind::reserved},
      {"2001:10::1", AddressKind::reserved},
      {"2001:20::1", AddressKind::reserved},
      {"2001:30::1", AddressKind::reserved},
      {"2001:1ff:ffff::1", AddressKind::reserved},
      {"2001:200::1", AddressKind::global},
      {"2001:4860:4860::8888", AddressKind::global},
      {"2620:4f:8000::1", AddressKind::reserved},
      {"2620:4f:8001::1", AddressKind::global},
      {"3fff::1", AddressKind::reserved},
      {"3fff:fff::1", AddressKind::reserved},
      {"100::1", AddressKind::reserved},
      {"100:0:0:1::1", AddressKind::reserved},
      {"5f00::1", AddressKind::reserved},
      {"4000::1", AddressKind::reserved},
      {"fec0::1", AddressKind::reserved},
      {"fe00::1", AddressKind::reserved},
      {"2606:4700::5efe:10.0.0.1", AddressKind::private_network},
      {"2606:4700::200:5efe:127.0.0.1", AddressKind::loopback},
      {"fe80::5efe:8.8.8.8", AddressKind::link_local},
      {"2606:4700::5efe:8.8.8.8", AddressKind::global},
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
}  // namespace callgate::net::address_range_test
