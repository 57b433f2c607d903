#include "policy/coalesce_reasoning.h"

#include "policy/policy_testing.h"

namespace callgate::policy::coalesce_reasoning_test {
namespace {

// EventLog joins neighbours: pieces are counted here.
class Pieces final : public EventSink {
 public:
  void accept(const Event& event) override {
    if (const auto* reasoning = std::get_if<ReasoningDelta>(&event)) {
      text_.append(reasoning->text).append("|");
    } else {
      text_.append("* ");
    }
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

TEST(CoalesceReasoning, gathers_pieces_until_there_are_enough_bytes) {
  CoalesceReasoning stage(5);
  Pieces out;
  for (const std::string_view piece : {"ab", "cd", "ef", "g", "longer than that", "h"}) {
    stage.push(ReasoningDelta{piece}, out);
  }
  EXPECT_EQ(out.text(), "abcdef|glonger than that|");
  EXPECT_EQ(stage.held_back(), 2u);
}

TEST(CoalesceReasoning, lets_everything_go_before_other_words_of_the_turn) {
  CoalesceReasoning stage(100);
  Pieces out;
  stage.push(ReasoningDelta{"a"}, out);
  stage.push(UsageReported{}, out);
  stage.push(TextDelta{"t"}, out);
  stage.push(ReasoningDelta{"b"}, out);
  stage.push(TurnFinished{}, out);
  EXPECT_EQ(out.text(), "* a|* b|* ");
  EXPECT_EQ(stage.held_back(), std::nullopt);
}

TEST(CoalesceReasoning, numbers_what_it_holds_back_so_that_a_timer_can_tell_pieces_apart) {
  CoalesceReasoning stage(100);
  Pieces out;
  stage.push(ReasoningDelta{"a"}, out);
  EXPECT_EQ(stage.held_back(), 0u);
  stage.release(out);
  stage.release(out);
  EXPECT_EQ(stage.held_back(), std::nullopt);
  stage.push(ReasoningDelta{"b"}, out);
  EXPECT_EQ(stage.held_back(), 1u);
  EXPECT_EQ(out.text(), "a|");
}

}  // namespace
}  // namespace callgate::policy::coalesce_reasoning_test
