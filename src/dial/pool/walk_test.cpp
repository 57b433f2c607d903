#include "dial/pool/walk.h"

#include <gtest/gtest.h>

#include "base/ids.h"

namespace callgate::server::walk_test {
namespace {

const Error kBusy{.code = ErrorCode::unavailable, .message = "busy", .status = 503};
const Error kWrong{.code = ErrorCode::invalid_request, .message = "wrong", .status = 400};
const Error kRefused{.code = ErrorCode::upstream_failed, .message = "key", .status = 401};
const Error kMissing{.code = ErrorCode::not_found, .message = "missing", .status = 404};
const Error kSilent{.code = ErrorCode::timed_out, .message = "silent"};

Error limited(std::string seconds) {
  return {.code = ErrorCode::rate_limited,
          .message = "limited",
          .status = 429,
          .retry_after = std::move(seconds)};
}

class FakeChance final : public PoolChance {
 public:
  Rotation& rotation() override { return rotation_; }
  std::uint64_t random() override { return mint_.next(); }
  bool take_repeat() override { return repeats > 0 && repeats-- > 0; }
  int repeats = 100;

 private:
  Rotation rotation_;
  IdMint mint_{1};
};

// A pool in which letters are upstreams. Says what a walk does as words: `a` asks, `queue b`, `wait`, `end`.
class PoolWalkTest : public testing::Test {
 protected:
  PoolWalkTest() {
    options_.retries = 2;
    options_.backoff = Milliseconds(100);
  }

  // "ab c": a and b share the first priority, c has the second.
  PoolWalk walk(std::string_view pool) {
    std::vector<PoolPlace> places;
    std::int64_t priority = 0;
    for (const char letter : pool) {
      if (letter == ' ') {
        ++priority;
      } else {
        places.push_back({.upstream = std::string(1, letter), .priority = priority});
      }
    }
    views_.assign(places.size(), {});
    return PoolWalk(std::move(places), options_);
  }

  std::string next(PoolWalk& walk) {
    const PoolWalk::Step step = walk.next(views_, now_, chance_);
    if (const auto* ask = std::get_if<PoolWalk::Ask>(&step)) {
      return walk.places()[ask->place].upstream;
    }
    if (const auto* queue = std::get_if<PoolWalk::Queue>(&step)) {
      return "queue " + walk.places()[queue->place].upstream;
    }
    if (const auto* pause = std::get_if<PoolWalk::Pause>(&step)) {
      paused_ = pause->time;
      now_ += static_cast<std::uint64_t>(pause->time.count());
      return "wait";
    }
    return "end";
  }
  std::string after(PoolWalk& walk, const Error& error) {
    walk.failed({.error = error}, now_);
    return next(walk);
  }
  // Every upstream fails with what the table says; which were asked, in order.
  std::string all_of(PoolWalk& walk, const std::map<char, Error>& errors) {
    std::string order;
    for (std::string step = next(walk); step != "end" && order.size() < 50;) {
      if (step != "wait") {
        order += step;
        walk.failed({.error = errors.at(step[0])}, now_);
      }
      step = next(walk);
    }
    return order;
  }

  PoolWalk::Options options_;
  FakeChance chance_;
  std::vector<PlaceView> views_;
  std::uint64_t now_ = 1'000;
  Milliseconds paused_{0};
};

TEST_F(PoolWalkTest, asks_the_only_upstream_again_after_growing_pauses) {
  PoolWalk only = walk("a");
  EXPECT_EQ(next(only), "a");
  EXPECT_EQ(after(only, kBusy), "wait");
  EXPECT_GE(paused_.count(), 50);
  EXPECT_LE(paused_.count(), 150);
  EXPECT_EQ(next(only), "a");
  EXPECT_EQ(after(only, kBusy), "wait");
  EXPECT_GE(paused_.count(), 100);
  EXPECT_LE(paused_.count(), 300);
  EXPECT_EQ(next(only), "a");
  EXPECT_EQ(after(only, kBusy), "end") << "two retries were allowed";
  EXPECT_EQ(only.tries(), 3u);
}

TEST_F(PoolWalkTest, walks_all_priorities_whatever_retries_are_left) {
  options_.retries = 0;
  PoolWalk all = walk("a b c d");
  EXPECT_EQ(all_of(all, {{'a', kBusy}, {'b', kBusy}, {'c', kBusy}, {'d', kBusy}}), "abcd");
}

TEST_F(PoolWalkTest, takes_turns_within_a_priority) {
  std::string first;
  for (int i = 0; i < 4; ++i) {
    PoolWalk pool = walk("ab c");
    first += next(pool);
  }
  EXPECT_EQ(first, "abab");
}

TEST_F(PoolWalkTest, asks_all_of_a_priority_before_the_next) {
  options_.retries = 0;
  PoolWalk pool = walk("ab cd");
  const std::string order = all_of(pool, {{'a', kBusy}, {'b', kBusy}, {'c', kBusy}, {'d', kBusy}});
  EXPECT_EQ(order.size(), 4u);
  EXPECT_LT(std::max(order.find('a'), order.find('b')), std::min(order.find('c'), order.find('d')));
}

// What an upstream says, and which are asked because of it.
TEST_F(PoolWalkTest, carries_on_what_another_upstream_can_improve_and_nothing_else) {
  options_.retries = 1;
  const struct {
    Error error;
    std::string order;
  } cases[] = {
      {kWrong, "a"},           // 400: no upstream would take it
      {kRefused, "abb"},       // 401: never again there
      {kMissing, "abb"},       // 404: likewise
      {limited("60"), "abb"},  // 429: not for a minute
      {limited(""), "aba"},    // 429 without a word: after the others
      {kBusy, "aba"},
      {kSilent, "aba"},
      {{.code = ErrorCode::upstream_failed, .upstream_code = "certificate_refused"}, "abb"},
  };
  for (const auto& [error, order] : cases) {
    PoolWalk pool = walk("a b");
    EXPECT_EQ(all_of(pool, {{'a', error}, {'b', kBusy}}), order) << error.status;
  }
}

TEST_F(PoolWalkTest, tries_elsewhere_what_an_upstream_cannot_be_asked) {
  PoolWalk pool = walk("a b");
  EXPECT_EQ(next(pool), "a");
  pool.failed({.error = kWrong, .asked = false}, now_);
  EXPECT_EQ(next(pool), "b");
  EXPECT_EQ(after(pool, kBusy), "wait");
  EXPECT_EQ(next(pool), "b") << "the first one still cannot be asked";
}

TEST_F(PoolWalkTest, waits_for_the_time_that_the_only_upstream_named) {
  PoolWalk soon = walk("a");
  EXPECT_EQ(next(soon), "a");
  EXPECT_EQ(after(soon, limited("3")), "wait");
  EXPECT_EQ(paused_, Milliseconds(3'000));
  for (const char* far : {"60", "4294967297", "9999999999", "99999999999999999999999"}) {
    PoolWalk late = walk("a");
    EXPECT_EQ(next(late), "a");
    EXPECT_EQ(after(late, limited(far)), "end") << far;
  }
}

TEST_F(PoolWalkTest, leaves_out_what_is_not_well_while_somebody_is) {
  PoolWalk pool = walk("ab c");
  views_[0] = {.out = true, .trouble = Trouble::silence};
  for (int i = 0; i < 3; ++i) {
    PoolWalk again = walk("ab c");
    views_[0] = {.out = true, .trouble = Trouble::silence};
    EXPECT_EQ(next(again), "b");
  }
  views_[1] = {.out = true};
  EXPECT_EQ(next(pool), "c");
}

TEST_F(PoolWalkTest, never_finds_a_pool_empty) {
  options_.retries = 0;
  PoolWalk pool = walk("abc d");
  views_[0] = {.out = true, .trouble = Trouble::silence};
  views_[1] = {.out = true, .trouble = Trouble::failure};
  views_[2] = {.out = true, .trouble = Trouble::slow};
  views_[3] = {.out = true, .trouble = Trouble::failure};
  EXPECT_EQ(all_of(pool, {{'a', kSilent}, {'b', kBusy}, {'c', kBusy}, {'d', kBusy}}), "cbda")
      << "those that cost the least come first";
}

TEST_F(PoolWalkTest, asks_those_that_are_left_out_when_the_others_have_failed) {
  options_.retries = 0;
  PoolWalk pool = walk("ab");
  views_[0] = {.out = true, .trouble = Trouble::failure};
  EXPECT_EQ(all_of(pool, {{'a', kBusy}, {'b', kBusy}}), "ba");
}

TEST_F(PoolWalkTest, tries_one_that_is_due_and_goes_on_elsewhere) {
  PoolWalk pool = walk("ab c");
  views_[1] = {.out = true, .due = true};
  EXPECT_EQ(next(pool), "b");
  EXPECT_EQ(after(pool, kBusy), "a");
  PoolWalk fallback = walk("a b");
  views_[1] = {.out = true, .due = true};
  EXPECT_EQ(next(fallback), "a") << "nobody tries a fallback that is not needed";
}

TEST_F(PoolWalkTest, spills_over_to_the_next_priority_and_waits_in_line_only_then) {
  PoolWalk pool = walk("ab c");
  views_[0].full = views_[1].full = true;
  EXPECT_EQ(next(pool), "c");
  PoolWalk crowded = walk("ab c");
  views_[0].full = views_[1].full = views_[2].full = true;
  views_[0].queue_full = true;
  EXPECT_EQ(next(crowded), "queue b");
}

TEST_F(PoolWalkTest, says_when_to_come_back_if_all_are_at_their_limits) {
  PoolWalk pool = walk("a b");
  views_[0].free_at = now_ + 45'000;
  views_[1].free_at = now_ + 30'500;
  EXPECT_EQ(next(pool), "end");
  EXPECT_EQ(pool.error(now_).code, ErrorCode::rate_limited);
  EXPECT_EQ(pool.error(now_).retry_after, "31");
  PoolWalk soon = walk("a b");
  views_[0].free_at = now_ + 45'000;
  views_[1].free_at = now_ + 2'000;
  EXPECT_EQ(next(soon), "wait");
  EXPECT_EQ(paused_, Milliseconds(2'000));
  EXPECT_EQ(next(soon), "b");
}

TEST_F(PoolWalkTest, asks_another_at_once_while_one_is_at_its_limit) {
  PoolWalk pool = walk("a b");
  views_[0].free_at = now_ + 500;
  EXPECT_EQ(next(pool), "b");
}

TEST_F(PoolWalkTest, ends_with_its_deadline) {
  options_.deadline = 1'030;
  PoolWalk pool = walk("a");
  EXPECT_EQ(next(pool), "a");
  EXPECT_EQ(after(pool, kBusy), "end") << "no pause would fit";
  PoolWalk late = walk("a b");
  EXPECT_EQ(next(late), "a");
  now_ = 1'030;
  EXPECT_EQ(after(late, kBusy), "end");
}

TEST_F(PoolWalkTest, repeats_nothing_without_a_budget_but_walks_on) {
  chance_.repeats = 0;
  PoolWalk pool = walk("a b");
  EXPECT_EQ(all_of(pool, {{'a', kBusy}, {'b', kBusy}}), "ab");
  EXPECT_TRUE(pool.budget_was_empty());
}

TEST_F(PoolWalkTest, asks_the_same_one_again_when_it_is_told_to) {
  PoolWalk pool = walk("a b");
  EXPECT_EQ(next(pool), "a");
  pool.again();
  EXPECT_EQ(next(pool), "a");
  EXPECT_EQ(after(pool, kBusy), "b");
}

TEST_F(PoolWalkTest, puts_the_one_that_has_just_failed_last) {
  options_.skip_first = true;
  options_.retries = 0;
  PoolWalk pool = walk("a b c");
  EXPECT_EQ(all_of(pool, {{'a', kBusy}, {'b', kBusy}, {'c', kBusy}}), "bca");
  PoolWalk only = walk("a");
  EXPECT_EQ(next(only), "a");
}

// The worst thing to say would be what only the operator understands.
TEST_F(PoolWalkTest, reports_the_most_useful_failure_and_names_the_others) {
  options_.retries = 0;
  const struct {
    Error a, b, c;
    int status;
  } cases[] = {
      {kBusy, kRefused, kMissing, 503},
      {limited("60"), kBusy, kRefused, 429},
      {kMissing, kRefused, kRefused, 404},
      {kRefused, kRefused, kRefused, 401},
  };
  for (const auto& [a, b, c, status] : cases) {
    PoolWalk pool = walk("a b c");
    all_of(pool, {{'a', a}, {'b', b}, {'c', c}});
    EXPECT_EQ(pool.error(now_).status, status);
  }
  PoolWalk pool = walk("a b c");
  all_of(pool, {{'a', kBusy}, {'b', kSilent}, {'c', kRefused}});
  EXPECT_EQ(pool.error(now_).message.substr(0, 4), "busy");
  EXPECT_NE(pool.error(now_).message.find("also asked: \"b\" (timed out), \"c\" (401)"),
            std::string::npos)
      << pool.error(now_).message;
}

TEST_F(PoolWalkTest, reports_what_is_wrong_with_the_request_as_it_was_said) {
  PoolWalk pool = walk("a b");
  EXPECT_EQ(next(pool), "a");
  EXPECT_EQ(after(pool, kBusy), "b");
  EXPECT_EQ(after(pool, kWrong), "end");
  EXPECT_EQ(pool.error(now_).status, 400);
  EXPECT_EQ(pool.error(now_).message, "wrong");
}

}  // namespace
}  // namespace callgate::server::walk_test
