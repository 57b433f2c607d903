// Several requests, one memory.
#include "dial/pool/board.h"

#include <gtest/gtest.h>

#include <set>

namespace callgate::server::board_test {
namespace {

const Error kBusy{.code = ErrorCode::unavailable, .message = "busy", .status = 503};
const Error kSilent{.code = ErrorCode::timed_out, .message = "silent"};
const Error kReset{.code = ErrorCode::upstream_failed, .message = "reset"};

class BoardTest : public testing::Test {
 protected:
  BoardTest() {
    board_.set_listener([this](const PoolNews& news) {
      const bool out = news.what == Lane::News::ejected;
      news_ += (news_.empty() ? "" : " ") + std::string(out ? "-" : "+") + news.upstream;
    });
    for (const char* name : {"a", "b", "c"}) upstreams_.emplace_back().name = name;
    use();
  }
  void use() { board_.use(upstreams_, 20, now_); }
  UpstreamConfig& upstream(std::string_view name) {
    for (UpstreamConfig& one : upstreams_) {
      if (one.name == name) return one;
    }
    return upstreams_.emplace_back();
  }

  struct Asked {
    std::string upstream;  // empty: none
    PoolTicket ticket;
    std::optional<Board::Copy> copy;
  };
  // As walk_test.cpp writes pools.
  PoolWalk walk(std::string_view pool) const {
    std::vector<PoolPlace> places;
    std::int64_t priority = 0;
    for (const char letter : pool) {
      if (letter == ' ') {
        ++priority;
      } else {
        places.push_back({.upstream = std::string(1, letter), .priority = priority});
      }
    }
    return PoolWalk(std::move(places), {.retries = 0});
  }
  Asked next(PoolWalk& walk) {
    Board::Answer answer = board_.next(walk, question_, now_);
    const auto* ask = std::get_if<PoolWalk::Ask>(&answer.step);
    if (ask == nullptr) return {};
    return {walk.places()[ask->place].upstream, std::move(answer.ticket), std::move(answer.copy)};
  }
  Asked ask(std::string_view pool) {
    PoolWalk fresh = walk(pool);
    return next(fresh);
  }
  // A whole request. `first_token`: how long its upstream takes.
  std::string answer(std::string_view pool, std::uint64_t first_token = 5) {
    Asked asked = ask(pool);
    now_ += first_token;
    asked.ticket.heard(now_);
    asked.ticket.succeeded(std::nullopt, now_);
    return asked.upstream;
  }
  std::string state(std::string_view name) {
    for (const UpstreamStatus& status : board_.status(now_)) {
      if (status.name == name) return status.state;
    }
    return "unknown";
  }

  Board board_{1};
  std::vector<UpstreamConfig> upstreams_;
  Board::Question question_{.model = "m", .stream = true, .may_copy = true};
  std::uint64_t now_ = 1'000;
  std::string news_;
};

TEST_F(BoardTest, remembers_an_upstream_that_does_not_answer) {
  Asked first = ask("a b");
  EXPECT_EQ(first.upstream, "a");
  now_ += 120'000;
  first.ticket.failed(kSilent, now_);
  EXPECT_EQ(news_, "-a");
  for (int i = 0; i < 100; ++i) EXPECT_EQ(answer("a b"), "b");
  EXPECT_EQ(state("a"), "ejected");
}

TEST_F(BoardTest, leaves_an_upstream_alone_that_has_not_said_a_word_for_long) {
  const Asked first = ask("a b");
  now_ += 9'999;
  EXPECT_EQ(ask("a b").upstream, "a");
  now_ += 1;
  EXPECT_EQ(ask("a b").upstream, "b") << "while the first one still waits";
  EXPECT_EQ(news_, "-a");
}

TEST_F(BoardTest, takes_it_back_when_the_long_wait_ends_well) {
  Asked first = ask("a b");
  now_ += 15'000;
  EXPECT_EQ(answer("a b"), "b");
  first.ticket.heard(now_);
  EXPECT_EQ(news_, "-a +a");
  EXPECT_EQ(ask("a b").upstream, "a");
}

TEST_F(BoardTest, says_nothing_of_requests_that_do_not_stream) {
  question_.stream = false;
  const Asked first = ask("a b");
  now_ += 60'000;
  EXPECT_EQ(ask("a b").upstream, "a");
}

TEST_F(BoardTest, sends_a_copy_to_one_that_fell_silent_and_nobody_waits_for_it) {
  ask("a b").ticket.failed(kSilent, now_);
  now_ += 1'000;
  Asked second = ask("a b");
  EXPECT_EQ(second.upstream, "b");
  ASSERT_TRUE(second.copy);
  EXPECT_EQ(second.copy->upstream, "a");
  EXPECT_FALSE(second.copy->whole);
  EXPECT_EQ(state("a"), "trying");
  EXPECT_FALSE(ask("a b").copy) << "one at a time";
  second.copy->ticket.heard(now_);
  EXPECT_EQ(news_, "-a +a");
  EXPECT_EQ(ask("a b").upstream, "a");
}

// A copy that hangs does not keep another one from finding out that the upstream is well, and has nothing to say afterwards.
TEST_F(BoardTest, sends_another_copy_when_one_hangs_and_forgets_the_former) {
  ask("a b").ticket.failed(kSilent, now_);
  now_ += 1'000;
  Asked first = ask("a b");
  ASSERT_TRUE(first.copy);
  now_ += 4'000;
  Asked second = ask("a b");
  ASSERT_TRUE(second.copy);
  second.copy->ticket.heard(now_);
  EXPECT_EQ(news_, "-a +a");
  second.copy->ticket.succeeded(std::nullopt, now_);
  first.copy->ticket.failed(kSilent, now_ + 1'000);
  EXPECT_EQ(news_, "-a +a");
  EXPECT_EQ(ask("a b").upstream, "a");
}

TEST_F(BoardTest, lets_a_copy_of_an_upstream_that_cuts_answers_read_all) {
  for (int i = 0; i < 3; ++i) {
    Asked asked = ask("a b");
    asked.ticket.heard(now_);
    asked.ticket.failed(kReset, now_);
  }
  EXPECT_EQ(news_, "-a");
  now_ += 1'000;
  Asked next_one = ask("a b");
  ASSERT_TRUE(next_one.copy);
  EXPECT_TRUE(next_one.copy->whole);
  next_one.copy->ticket.heard(now_);
  EXPECT_EQ(state("a"), "trying") << "that it begins was never in doubt";
  next_one.copy->ticket.succeeded(std::nullopt, now_);
  EXPECT_EQ(state("a"), "well");
}

TEST_F(BoardTest, tries_one_that_only_refuses_with_a_request_in_earnest) {
  for (int i = 0; i < 3; ++i) {
    PoolWalk pool = walk("a b");
    Asked asked = next(pool);
    ASSERT_EQ(asked.upstream, "a");
    asked.ticket.failed(kBusy, now_);
    pool.failed({.error = kBusy}, now_);
    EXPECT_EQ(next(pool).upstream, "b");
  }
  EXPECT_EQ(ask("a b").upstream, "b");
  now_ += 1'000;
  PoolWalk pool = walk("a b");
  Asked trial = next(pool);
  EXPECT_EQ(trial.upstream, "a");
  EXPECT_EQ(ask("a b").upstream, "b") << "one at a time";
  trial.ticket.failed(kBusy, now_);
  pool.failed({.error = kBusy}, now_);
  EXPECT_EQ(next(pool).upstream, "b");
  now_ += 1'500;
  EXPECT_EQ(ask("a b").upstream, "b") << "the pause has doubled";
  now_ += 500;
  EXPECT_EQ(answer("a b"), "a");
  EXPECT_EQ(news_, "-a +a");
}

TEST_F(BoardTest, forgets_a_trial_whose_client_left) {
  for (int i = 0; i < 3; ++i) ask("a b").ticket.failed(kBusy, now_);
  now_ += 1'000;
  { const Asked trial = ask("a b"); }
  EXPECT_EQ(ask("a b").upstream, "a");
}

TEST_F(BoardTest, leaves_out_one_that_is_slow_beside_its_peers) {
  for (int i = 0; i < 3; ++i) {
    Asked slow = ask("a");
    Asked fast = ask("b");
    now_ += 5;
    fast.ticket.heard(now_);
    now_ += 195;
    slow.ticket.heard(now_);
  }
  std::set<std::string> asked;
  for (int i = 0; i < 20; ++i) asked.insert(answer("ab", 1));
  EXPECT_EQ(asked, std::set<std::string>{"b"});
  EXPECT_EQ(news_, "-a");
  now_ += 1'000;
  EXPECT_EQ(answer("ab", 150), "a") << "it is tried again";
  EXPECT_EQ(news_, "-a") << "and is as slow as before";
  now_ += 2'000;
  EXPECT_EQ(answer("ab", 6), "a");
  EXPECT_EQ(news_, "-a +a");
}

TEST_F(BoardTest, finds_slow_only_what_is_slow_for_all) {
  for (int i = 0; i < 4; ++i) {
    Asked a = ask("a");
    Asked b = ask("b");
    now_ += 5;
    b.ticket.heard(now_);
    if (i == 2) a.ticket.heard(now_);
    now_ += 5'000;
    a.ticket.heard(now_);
  }
  answer("ab");
  EXPECT_EQ(news_, "") << "one of its answers began soon, the others had long prompts";
}

TEST_F(BoardTest, compares_those_of_one_priority) {
  for (int i = 0; i < 5; ++i) {
    Asked slow = ask("a");
    Asked fast = ask("b");
    fast.ticket.heard(now_ + 1);
    slow.ticket.heard(now_ + 1'000);
  }
  EXPECT_EQ(ask("a b").upstream, "a");
}

TEST_F(BoardTest, notices_a_hang_before_any_timeout) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(answer("b"), "b");
    EXPECT_EQ(answer("a"), "a");
  }
  std::vector<Asked> stuck;
  for (int i = 0; i < 3; ++i) stuck.push_back(ask("a"));
  now_ += 66;
  for (int i = 0; i < 10; ++i) EXPECT_EQ(answer("ab", 1), "b");
  EXPECT_EQ(news_, "-a");
}

TEST_F(BoardTest, keeps_to_what_an_upstream_said_for_all_requests) {
  const Error later{.code = ErrorCode::rate_limited, .status = 429, .retry_after = "3600"};
  ask("a b").ticket.failed(later, now_);
  now_ += 3'599'000;
  EXPECT_EQ(ask("a b").upstream, "b");
  EXPECT_EQ(state("a"), "limited");
  now_ += 1'000;
  EXPECT_EQ(ask("a b").upstream, "a");
  EXPECT_EQ(news_, "") << "it is well";
}

TEST_F(BoardTest, keeps_to_requests_per_minute) {
  upstream("a").requests_per_minute = 2;
  use();
  EXPECT_EQ(answer("a b", 0), "a");
  EXPECT_EQ(answer("a b", 0), "a");
  EXPECT_EQ(answer("a b", 0), "b");
  now_ += 30'000;
  EXPECT_EQ(answer("a b", 0), "a");
}

TEST_F(BoardTest, keeps_to_tokens_per_minute_and_corrects_what_it_estimated) {
  upstream("a").tokens_per_minute = 1'000;
  use();
  question_.tokens = 900;
  Asked first = ask("a b");
  EXPECT_EQ(first.upstream, "a");
  EXPECT_EQ(ask("a b").upstream, "b");
  first.ticket.succeeded(100, now_);
  EXPECT_EQ(ask("a b").upstream, "a");
}

TEST_F(BoardTest, lets_those_in_line_in_one_by_one) {
  upstream("a").max_in_flight = 1;
  upstream("a").queue = 2;
  use();
  Asked first = ask("a");
  std::string woken;
  auto wait_as = [&](const char* name) {
    PoolWalk pool = walk("a");
    const Board::Answer answer = board_.next(pool, question_, now_);
    EXPECT_TRUE(std::holds_alternative<PoolWalk::Queue>(answer.step));
    return board_.join_line(
        "a", question_, [&woken, name] { woken += name; }, now_);
  };
  const auto second = wait_as("2");
  auto third = wait_as("3");
  PoolWalk fourth = walk("a");
  EXPECT_TRUE(std::holds_alternative<PoolWalk::Stop>(board_.next(fourth, question_, now_).step))
      << "the line is full";
  EXPECT_EQ(fourth.error(now_).code, ErrorCode::rate_limited);
  EXPECT_FALSE(second->take());
  first.ticket.succeeded(std::nullopt, now_);
  EXPECT_EQ(woken, "2");
  PoolTicket ticket = second->take();
  ASSERT_TRUE(ticket);
  EXPECT_EQ(board_.status(now_)[0].in_flight, 1);
  third.reset();
  ticket.succeeded(std::nullopt, now_);
  EXPECT_EQ(woken, "2") << "the third one left";
  EXPECT_EQ(board_.status(now_)[0].in_flight, 0);
}

TEST_F(BoardTest, gives_room_back_that_came_too_late) {
  upstream("a").max_in_flight = 1;
  use();
  Asked first = ask("a");
  auto wait = board_.join_line(
      "a", question_, [] {}, now_);
  first.ticket.succeeded(std::nullopt, now_);
  EXPECT_EQ(board_.status(now_)[0].in_flight, 1);
  wait.reset();
  EXPECT_EQ(board_.status(now_)[0].in_flight, 0);
}

TEST_F(BoardTest, keeps_what_it_knows_over_a_reload_of_the_same_server) {
  ask("a b").ticket.failed(kSilent, now_);
  upstream("b").idle_timeout = Milliseconds(7);
  use();
  EXPECT_EQ(ask("a b").upstream, "b");
  upstream("a").url = "http://elsewhere/v1";
  use();
  EXPECT_EQ(ask("a b").upstream, "a");
}

TEST_F(BoardTest, believes_checks_of_what_refuses_and_no_more) {
  for (int i = 0; i < 3; ++i) board_.checked("a", false, "check: 503", now_);
  EXPECT_EQ(news_, "-a");
  EXPECT_EQ(ask("a b").upstream, "b");
  board_.checked("a", true, "", now_);
  EXPECT_EQ(news_, "-a +a");
  ask("a b").ticket.failed(kSilent, now_);
  board_.checked("a", true, "", now_);
  EXPECT_EQ(state("a"), "ejected") << "a check proves little of requests";
}

TEST_F(BoardTest, repeats_no_more_than_its_budget) {
  int repeated = 0;
  for (int i = 0; i < 1'000; ++i) {
    PoolWalk pool({{.upstream = "a"}}, {.retries = 1, .backoff = Milliseconds(1)});
    (void)next(pool);
    pool.failed({.error = kBusy}, now_);
    const Board::Answer answer = board_.next(pool, question_, now_);
    repeated += std::holds_alternative<PoolWalk::Pause>(answer.step);
  }
  EXPECT_GE(repeated, 280);
  EXPECT_LE(repeated, 300) << "100 that were saved up, and 20 of 100";
}

}  // namespace
}  // namespace callgate::server::board_test
