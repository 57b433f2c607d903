#include "access/wrong_keys.h"

#include <gtest/gtest.h>

#include <string>

namespace callgate::server::wrong_keys_test {
namespace {

using namespace std::chrono_literals;

TEST(WrongKeys, slow_an_address_down_after_a_burst) {
  WrongKeys wrong;
  wrong.set_limit(30);
  const std::uint64_t who = wrong.identity("192.0.2.7");
  const std::uint64_t other = wrong.identity("192.0.2.8");
  const WrongKeys::Time now = 1000s;
  for (int i = 0; i < 30; ++i) {
    EXPECT_EQ(wrong.wait(who, now), 0s) << i;
    wrong.count(who, now);
  }
  EXPECT_EQ(wrong.wait(who, now), 2s);
  EXPECT_EQ(wrong.wait(other, now), 0s);
  EXPECT_EQ(wrong.wait(who, now + 1s), 1s);
  EXPECT_EQ(wrong.wait(who, now + 2s), 0s);
  wrong.count(who, now + 2s);
  EXPECT_EQ(wrong.wait(who, now + 2s), 2s);
  EXPECT_EQ(wrong.wait(who, now + 10min), 0s);
}

TEST(WrongKeys, without_a_limit_slow_nobody_down) {
  WrongKeys wrong;
  const std::uint64_t who = wrong.identity("192.0.2.7");
  for (int i = 0; i < 1000; ++i) wrong.count(who, 1s);
  EXPECT_EQ(wrong.wait(who, 1s), 0s);
  wrong.set_limit(1);
  wrong.count(who, 1s);
  EXPECT_EQ(wrong.wait(who, 1s), 60s);
  wrong.set_limit(0);
  EXPECT_EQ(wrong.wait(who, 1s), 0s);
}

TEST(WrongKeys, count_a_network_of_ipv6_as_one_address) {
  const WrongKeys wrong;
  EXPECT_EQ(wrong.identity("2001:db8:1:2::1"), wrong.identity("2001:db8:1:2:3:4:5:6"));
  EXPECT_NE(wrong.identity("2001:db8:1:2::1"), wrong.identity("2001:db8:1:3::1"));
  EXPECT_NE(wrong.identity("::ffff:192.0.2.7"), wrong.identity("::ffff:192.0.2.8"));
  EXPECT_NE(wrong.identity("unix"), 0u);
}

// A hundred thousand addresses in a table of sixteen: the one that tries most is still known.
TEST(WrongKeys, keep_a_fixed_table_of_those_that_tried_most) {
  WrongKeys wrong(16);
  wrong.set_limit(60);
  const std::uint64_t stubborn = wrong.identity("192.0.2.7");
  for (int i = 0; i < 60; ++i) wrong.count(stubborn, 1000s);
  for (int i = 0; i < 100'000; ++i) wrong.count(wrong.identity("n" + std::to_string(i)), 1000s);
  EXPECT_GT(wrong.wait(stubborn, 1000s), 0s);
}

TEST(KnownAddresses, are_the_last_few) {
  KnownAddresses known;
  EXPECT_FALSE(known.contains(1));
  for (std::uint64_t i = 1; i <= 9; ++i) known.add(i);
  EXPECT_FALSE(known.contains(1));
  EXPECT_TRUE(known.contains(2));
  EXPECT_TRUE(known.contains(9));
}

}  // namespace
}  // namespace callgate::server::wrong_keys_test
