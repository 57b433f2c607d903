#include "access/address_limits.h"

#include <gtest/gtest.h>

namespace callgate::server::address_limits_test {
namespace {

using namespace std::chrono_literals;

TEST(AddressLimits, count_each_address_by_itself) {
  AddressLimits limits;
  EXPECT_EQ(limits.find("192.0.2.7", 1s), nullptr) << "there are none";
  limits.set_limits(2, 1);
  const KeyRef one = limits.find("192.0.2.7", 1s);
  EXPECT_TRUE(one->rate.take(1s).allowed);
  EXPECT_TRUE(limits.find("192.0.2.7", 1s)->rate.take(1s).allowed);
  EXPECT_FALSE(limits.find("192.0.2.7", 1s)->rate.take(1s).allowed);
  EXPECT_TRUE(limits.find("192.0.2.8", 1s)->rate.take(1s).allowed);
  const ConcurrencySlot slot(one->streams);
  EXPECT_TRUE(slot);
  EXPECT_FALSE(ConcurrencySlot(one->streams));
  EXPECT_EQ(limits.find("2001:db8:1:2::1", 1s)->config.name,
            limits.find("2001:db8:1:2:3:4:5:6", 1s)->config.name);
  EXPECT_NE(limits.find("2001:db8:1:2::1", 1s)->config.name,
            limits.find("2001:db8:1:3::1", 1s)->config.name);
  EXPECT_EQ(limits.keys().size(), 4u);
}

TEST(AddressLimits, forget_who_was_not_heard_of_for_longest) {
  AddressLimits limits(8);
  limits.set_limits(1, 0);
  for (int i = 0; i < 1000; ++i) {
    const auto now = std::chrono::milliseconds(i);
    (void)limits.find("10.0.0." + std::to_string(i), now);
    EXPECT_EQ(limits.find("busy", now)->rate.take(now).allowed, i == 0) << i;
    ASSERT_LE(limits.size(), 8u);
  }
}

}  // namespace
}  // namespace callgate::server::address_limits_test
