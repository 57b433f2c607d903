#include "dial/pool/breaker.h"

#include <gtest/gtest.h>

namespace callgate::server::breaker_test {
namespace {

using State = Breaker::State;

Breaker make_breaker(std::int64_t failures = 3) {
  Breaker breaker;
  breaker.set_options(
      {.failures = failures, .pause = Milliseconds(1'000), .longest = Milliseconds(4'000)});
  return breaker;
}

// Lets it be tried at the first moment that is possible, and fail.
void fail_trial(Breaker& breaker, std::uint64_t& now) {
  now = breaker.due();
  ASSERT_TRUE(breaker.is_due(now));
  ASSERT_FALSE(breaker.is_due(now - 1));
  breaker.begin_trial(now);
  EXPECT_FALSE(breaker.failed(breaker.trouble(), "still", now, 0));
}

TEST(Breaker, opens_after_failures_in_a_row) {
  Breaker breaker = make_breaker();
  EXPECT_FALSE(breaker.failed(Trouble::failure, "500", 10, 0));
  EXPECT_FALSE(breaker.failed(Trouble::failure, "500", 20, 0));
  EXPECT_FALSE(breaker.succeeded(30));
  EXPECT_FALSE(breaker.failed(Trouble::failure, "500", 40, 0));
  EXPECT_FALSE(breaker.failed(Trouble::cut, "reset", 50, 0));
  EXPECT_TRUE(breaker.failed(Trouble::failure, "503", 60, 0));
  EXPECT_EQ(breaker.state(), State::open);
  EXPECT_EQ(breaker.reason(), "503");
  EXPECT_EQ(breaker.since(), 60u);
  EXPECT_FALSE(breaker.failed(Trouble::failure, "late", 70, 0)) << "it is open already";
  EXPECT_EQ(breaker.reason(), "503");
}

TEST(Breaker, opens_at_once_for_silence) {
  Breaker breaker = make_breaker();
  EXPECT_TRUE(breaker.failed(Trouble::silence, "2 m", 10, 0));
}

TEST(Breaker, never_opens_where_that_is_switched_off) {
  Breaker breaker = make_breaker(0);
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(breaker.failed(Trouble::silence, "x", 10, 0));
  EXPECT_FALSE(breaker.is_open());
}

TEST(Breaker, is_tried_by_one_at_a_time_after_pauses_that_double_up_to_the_longest) {
  Breaker breaker = make_breaker(1);
  std::uint64_t now = 100;
  breaker.failed(Trouble::failure, "x", now, 0);
  for (const std::uint64_t pause : {1'000, 2'000, 4'000, 4'000}) {
    EXPECT_EQ(breaker.due() - now, pause);
    fail_trial(breaker, now);
  }
  breaker.begin_trial(now);
  EXPECT_FALSE(breaker.is_due(now + 100'000)) << "somebody tries it already";
}

TEST(Breaker, counts_the_time_of_a_trial_as_a_part_of_the_pause) {
  Breaker breaker = make_breaker();
  breaker.failed(Trouble::silence, "x", 0, 0);
  breaker.begin_trial(1'000);
  EXPECT_FALSE(breaker.failed(Trouble::silence, "still", 2'500, 0));
  EXPECT_EQ(breaker.due(), 3'000u) << "2 s after the trial began";
}

// What was silent may be well again while a trial still waits for an answer that will never come.
TEST(Breaker, tries_one_that_is_silent_again_beside_a_trial_that_waits) {
  Breaker breaker = make_breaker();
  breaker.failed(Trouble::silence, "x", 0, 0);
  breaker.begin_trial(1'000);
  EXPECT_FALSE(breaker.is_due(4'999));
  EXPECT_TRUE(breaker.is_due(5'000));
  breaker.begin_trial(5'000);
  EXPECT_FALSE(breaker.is_due(5'001));
  EXPECT_TRUE(breaker.succeeded(5'010));
  EXPECT_FALSE(breaker.is_open());
}

TEST(Breaker, spreads_its_pauses_over_a_quarter) {
  std::uint64_t shortest = 1'000'000;
  std::uint64_t longest = 0;
  for (std::uint64_t random = 0; random < 1'000; ++random) {
    Breaker breaker = make_breaker(1);
    breaker.failed(Trouble::failure, "x", 0, random);
    shortest = std::min(shortest, breaker.due());
    longest = std::max(longest, breaker.due());
  }
  EXPECT_EQ(shortest, 750u);
  EXPECT_EQ(longest, 1'000u);
}

TEST(Breaker, waits_longer_with_one_that_is_only_slow) {
  Breaker breaker = make_breaker();
  std::uint64_t now = 0;
  EXPECT_TRUE(breaker.failed(Trouble::slow, "x", now, 0));
  std::uint64_t pause = 0;
  for (int i = 0; i < 10; ++i) {
    pause = breaker.due() - now;
    fail_trial(breaker, now);
  }
  EXPECT_EQ(pause, 32'000u);
}

TEST(Breaker, knows_for_how_long_it_was_open) {
  Breaker breaker = make_breaker(1);
  breaker.failed(Trouble::failure, "x", 5'000, 0);
  EXPECT_TRUE(breaker.succeeded(8'000));
  EXPECT_EQ(breaker.was_out(), 3'000u);
}

TEST(Breaker, closes_with_an_answer_and_begins_anew) {
  Breaker breaker = make_breaker(1);
  std::uint64_t now = 0;
  breaker.failed(Trouble::failure, "x", now, 0);
  fail_trial(breaker, now);
  now = breaker.due();
  breaker.begin_trial(now);
  EXPECT_TRUE(breaker.succeeded(now));
  EXPECT_EQ(breaker.was_out(), now);
  EXPECT_FALSE(breaker.is_open());
  breaker.failed(Trouble::failure, "x", now, 0);
  EXPECT_EQ(breaker.due() - now, 1'000u);
}

TEST(Breaker, may_be_tried_again_at_once_when_nobody_knows_how_a_trial_ended) {
  Breaker breaker = make_breaker(1);
  breaker.failed(Trouble::failure, "x", 0, 0);
  breaker.begin_trial(1'000);
  breaker.abandon_trial();
  EXPECT_TRUE(breaker.is_due(1'000));
}

}  // namespace
}  // namespace callgate::server::breaker_test
