#include "net/ip_literal.h"

#include <gtest/gtest.h>

namespace callgate::net::ip_literal_test {
namespace {

TEST(IpLiteral, reads_addresses_and_nothing_else) {
  for (const std::string_view text :
       {"127.0.0.1", "0.0.0.0", "::", "::1", "2001:db8::1", "::ffff:127.0.0.1", "fe80::1"}) {
    EXPECT_TRUE(parse_ip(text)) << text;
  }
  for (const std::string_view text : {"", "localhost", "127.1", "0177.0.0.1", "127.0.0.1.", "[::1]",
                                      "::1%lo", "1.2.3.4:80", "300.0.0.1", " ::1"}) {
    EXPECT_FALSE(parse_ip(text)) << text;
  }
  EXPECT_FALSE(parse_ip(std::string_view("127.0.0.1\0.evil.example", 23)));
  EXPECT_EQ(parse_ip("1.2.3.4"), parse_ip("::ffff:1.2.3.4"));
}

TEST(IpLiteral, knows_loopback_and_ipv4) {
  for (const std::string_view text : {"127.0.0.1", "127.255.0.9", "::1", "::ffff:127.0.0.1"}) {
    EXPECT_TRUE(is_loopback(*parse_ip(text))) << text;
  }
  for (const std::string_view text : {"128.0.0.1", "0.0.0.0", "::", "::2", "7f00::1"}) {
    EXPECT_FALSE(is_loopback(*parse_ip(text))) << text;
  }
  EXPECT_TRUE(is_ipv4(*parse_ip("1.2.3.4")));
  EXPECT_FALSE(is_ipv4(*parse_ip("::1.2.3.4")));
}

}  // namespace
}  // namespace callgate::net::ip_literal_test
