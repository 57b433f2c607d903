#include "engine/call_hold.h"

#include <gtest/gtest.h>

namespace callgate::engine::call_hold_test {
namespace {

// Writes down what reaches it.
class Recorded final : public TurnOutlet {
 public:
  TurnTally& tally() override { return tally_; }
  EventSink& choice(std::uint32_t index) override { return logs_[index]; }
  void begin_frame() override { ++frames; }
  void end() override { ended = true; }
  void fail(const Error& error) override { failed = error.message; }

  std::string said(std::uint32_t choice = 0) const { return print(logs_[choice].events()); }

  int frames = 0;
  bool ended = false;
  std::string failed;

 private:
  TurnTally tally_{1};
  EventLog logs_[2];
};

TEST(CallHold, lets_a_turn_go_with_its_first_call) {
  Recorded to;
  CallHold hold(to, 1, CallHold::NoCall::keep_back);
  hold.begin_frame();
  hold.choice(0).accept(TextDelta{"Let me "});
  hold.end_frame();
  hold.begin_frame();
  hold.choice(0).accept(TextDelta{"look."});
  hold.end_frame();
  EXPECT_TRUE(hold.is_holding());
  EXPECT_EQ(to.said(), "");
  EXPECT_EQ(to.frames, 0);
  hold.begin_frame();
  hold.choice(0).accept(CallStarted{0, "find", "a"});
  EXPECT_FALSE(hold.is_holding());
  EXPECT_EQ(to.frames, 3);
  hold.choice(0).accept(CallFinished{0, CallOutcome::complete});
  hold.choice(0).accept(TurnFinished{FinishReason::tool_calls});
  hold.end_frame();
  hold.end();
  EXPECT_EQ(to.said(),
            "text \"Let me look.\"\ncall 0 find id=a\nend 0 complete\nfinish tool_calls\n");
  EXPECT_TRUE(to.ended);
  EXPECT_FALSE(hold.missed());
}

TEST(CallHold, begins_the_frame_of_a_call_once) {
  Recorded to;
  CallHold hold(to, 1, CallHold::NoCall::keep_back);
  hold.begin_frame();
  hold.choice(0).accept(TextDelta{"x"});
  hold.choice(0).accept(CallStarted{0, "find", "a"});
  hold.end_frame();
  EXPECT_EQ(to.frames, 1);
}

TEST(CallHold, keeps_a_turn_without_a_call) {
  Recorded to;
  CallHold hold(to, 1, CallHold::NoCall::keep_back);
  hold.begin_frame();
  hold.choice(0).accept(TextDelta{"No."});
  hold.choice(0).accept(TurnFinished{FinishReason::stop});
  hold.end_frame();
  EXPECT_FALSE(hold.missed());
  hold.end();
  EXPECT_TRUE(hold.missed());
  EXPECT_EQ(to.said(), "");
  EXPECT_FALSE(to.ended);
}

TEST(CallHold, lets_a_turn_without_a_call_go_at_its_end_when_it_is_told_to) {
  Recorded to;
  CallHold hold(to, 2, CallHold::NoCall::let_go);
  hold.begin_frame();
  hold.choice(1).accept(TextDelta{"No."});
  hold.choice(1).accept(TurnFinished{FinishReason::stop});
  EXPECT_TRUE(hold.is_holding());
  hold.choice(0).accept(UsageReported{{.prompt_tokens = 3}, "{\"a\":1}"});
  hold.choice(0).accept(TurnFinished{FinishReason::stop});
  EXPECT_FALSE(hold.is_holding());
  hold.end();
  EXPECT_FALSE(hold.missed());
  EXPECT_TRUE(to.ended);
  EXPECT_EQ(to.said(1), "text \"No.\"\nfinish stop\n");
  EXPECT_NE(to.said(0).find("finish stop"), std::string::npos);
}

TEST(CallHold, lets_all_choices_go_with_the_call_of_one) {
  Recorded to;
  CallHold hold(to, 2, CallHold::NoCall::keep_back);
  hold.choice(0).accept(TextDelta{"a"});
  hold.choice(1).accept(TextDelta{"b"});
  hold.choice(1).accept(CallStarted{0, "find", "x"});
  EXPECT_EQ(to.said(0), "text \"a\"\n");
  EXPECT_EQ(to.said(1), "text \"b\"\ncall 0 find id=x\n");
}

TEST(CallHold, says_nothing_of_a_failure_while_it_holds) {
  Recorded to;
  CallHold hold(to, 1, CallHold::NoCall::keep_back);
  hold.choice(0).accept(TextDelta{"a"});
  hold.fail({.code = ErrorCode::upstream_failed, .message = "broke"});
  EXPECT_EQ(to.failed, "");
  hold.choice(0).accept(CallStarted{0, "find", "x"});
  hold.fail({.code = ErrorCode::upstream_failed, .message = "broke"});
  EXPECT_EQ(to.failed, "broke");
}

}  // namespace
}  // namespace callgate::engine::call_hold_test
