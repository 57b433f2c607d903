#include "dial/grace_timer.h"

#include <gtest/gtest.h>

namespace callgate::server::grace_timer_test {
namespace {

TEST(GraceTimer, starts_anew_with_every_finished_call_and_not_with_what_else_comes) {
  GraceTimer timer(Milliseconds(300));
  EXPECT_EQ(timer.left(std::nullopt, 1000), std::nullopt);
  EXPECT_EQ(timer.left(1, 1000), net::Millis(300));
  EXPECT_EQ(timer.left(1, 1200), net::Millis(100));
  EXPECT_EQ(timer.left(2, 1250), net::Millis(300));
  EXPECT_EQ(timer.left(2, 1549), net::Millis(1));
  EXPECT_EQ(timer.left(2, 1550), net::Millis(0));
  EXPECT_EQ(timer.left(2, 9999), net::Millis(0));
}

TEST(GraceTimer, waits_while_a_call_is_open) {
  GraceTimer timer(Milliseconds(300));
  EXPECT_EQ(timer.left(1, 0), net::Millis(300));
  EXPECT_EQ(timer.left(std::nullopt, 299), std::nullopt);
  EXPECT_EQ(timer.left(2, 900), net::Millis(300));
}

}  // namespace
}  // namespace callgate::server::grace_timer_test
