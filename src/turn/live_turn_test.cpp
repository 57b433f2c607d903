#include "turn/live_turn.h"

#include <gtest/gtest.h>

#include "net/net_testing.h"

namespace callgate::server::live_turn_test {
namespace {

class LiveTurnTest : public testing::Test {
 protected:
  LiveTurnTest() {
    record_.id = "req_1";
    record_.model = "m";
    record_.upstream = "u";
    turn_.begin(record_, {.phase = "asking"});
  }

  std::size_t rows() const { return feed_.last(); }
  LiveRow latest() const { return feed_.read(0, {}).rows.at(0); }
  void pass(std::uint64_t ms) {
    net::run_to_end(loop_, [](net::Loop& loop, std::uint64_t time) -> net::Task<> {
      co_await loop.sleep(net::Millis(time));
    }(loop_, ms));
  }

  net::Loop loop_;
  LiveFeed feed_;
  TurnJob job_;
  store::RequestRecord record_;
  LiveTurn turn_{feed_, loop_, job_};
};

TEST_F(LiveTurnTest, begins_with_a_row) {
  EXPECT_TRUE(turn_.has_begun());
  EXPECT_EQ(rows(), 1u);
  EXPECT_EQ(latest().record->id, "req_1");
  EXPECT_EQ(latest().record->upstream, "u");
  EXPECT_EQ(latest().progress.phase, "asking");
  EXPECT_EQ(latest().outcome, nullptr);
}

TEST_F(LiveTurnTest, reports_progress_now_and_then_and_a_new_phase_at_once) {
  turn_.progress({.phase = "asking", .frames = 1}, false);
  EXPECT_EQ(rows(), 1u) << "the last row is too young";
  turn_.progress({.phase = "streaming", .frames = 2}, true);
  EXPECT_EQ(rows(), 2u);
  EXPECT_EQ(latest().progress.frames, 2u);
  turn_.progress({.phase = "streaming", .frames = 3}, false);
  EXPECT_EQ(rows(), 2u);
  pass(LiveTurn::kPauseMs + 20);
  turn_.progress({.phase = "streaming", .frames = 4}, false);
  EXPECT_EQ(rows(), 3u);
  EXPECT_EQ(latest().progress.frames, 4u);
}

TEST_F(LiveTurnTest, ends_with_the_outcome_but_no_content) {
  store::RequestOutcome outcome;
  outcome.id = "req_1";
  outcome.http_status = 200;
  outcome.calls = 2;
  outcome.attempts = 3;
  outcome.bytes_out = 77;
  outcome.missed_call = "hermes";
  outcome.response = "secret words";
  turn_.end(outcome);
  ASSERT_NE(latest().outcome, nullptr);
  EXPECT_EQ(latest().outcome->http_status, 200);
  EXPECT_EQ(latest().outcome->calls, 2);
  EXPECT_EQ(latest().outcome->attempts, 3);
  EXPECT_EQ(latest().outcome->bytes_out, 77);
  EXPECT_EQ(latest().outcome->missed_call, "hermes");
  EXPECT_TRUE(latest().outcome->response.empty());
}

}  // namespace
}  // namespace callgate::server::live_turn_test
