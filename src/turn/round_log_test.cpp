#include "turn/round_log.h"

#include <gtest/gtest.h>

namespace callgate::server::round_log_test {
namespace {

void say(RoundLog& log, std::string_view text, std::uint64_t until) {
  log.begin_answer();
  log.accept(TextDelta{text});
  log.accept(TurnFinished{FinishReason::stop});
  log.end_answer(until);
}

TEST(RoundLog, keeps_each_round_with_its_calls_results_and_times) {
  RoundLog log(10'000);
  log.begin(0, 5, false);
  log.begin_answer();
  log.accept(TextDelta{"Let me look."});
  log.accept(CallStarted{0, "look", "call_1"});
  log.accept(ArgumentsDelta{0, "{}"});
  log.accept(CallFinished{0, CallOutcome::complete});
  EXPECT_FALSE(log.has_rounds());
  log.add_result({.id = "call_1", .name = "look", .duration_ms = 7, .bytes = 5, .text = "sunny"});
  EXPECT_TRUE(log.has_rounds());
  log.accept(TurnFinished{FinishReason::tool_calls});
  log.end_answer(30);
  log.begin(1, 40, false);
  say(log, "It is sunny.", 60);
  EXPECT_EQ(
      log.print(),
      R"([{"type":"round","round":0,"at_ms":5,"duration_ms":25},)"
      R"({"type":"text","text":"Let me look."},)"
      R"({"type":"call","index":0,"id":"call_1","name":"look","arguments":"{}","outcome":"complete"},)"
      R"({"type":"finish","reason":"tool_calls"},)"
      R"({"type":"result","id":"call_1","name":"look","is_error":false,"duration_ms":7,"bytes":5,"text":"sunny"},)"
      R"({"type":"round","round":1,"at_ms":40,"duration_ms":20},)"
      R"({"type":"text","text":"It is sunny."},{"type":"finish","reason":"stop"}])");
}

TEST(RoundLog, forgets_what_an_answer_said_that_was_asked_for_again) {
  RoundLog log(10'000);
  log.begin(0, 0, false);
  log.begin_answer();
  log.accept(TextDelta{"first"});
  say(log, "second", 2);
  log.begin(0, 3, true);
  say(log, "third", 4);
  EXPECT_EQ(log.print(), R"([{"type":"round","round":0,"at_ms":3,"duration_ms":1},)"
                         R"({"type":"text","text":"third"},{"type":"finish","reason":"stop"}])");
}

TEST(RoundLog, says_how_long_a_round_was_that_does_not_fit) {
  RoundLog log(400);
  log.begin(0, 0, false);
  say(log, std::string(200, 'a'), 1);
  log.begin(1, 1, false);
  say(log, std::string(300, 'b'), 2);
  log.add_result({.id = "x", .name = "y", .bytes = 500, .text = std::string(500, 'c')});
  const std::string events = log.print();
  EXPECT_NE(events.find(std::string(200, 'a')), std::string::npos);
  EXPECT_NE(events.find(R"({"type":"too_long","bytes":300})"), std::string::npos);
  EXPECT_EQ(events.find("bb"), std::string::npos);
  EXPECT_EQ(events.find("cc"), std::string::npos);
}

TEST(RoundLog, keeps_nothing_without_a_limit) {
  RoundLog log(0);
  log.begin(0, 0, false);
  say(log, "text", 1);
  log.add_result({.id = "x", .name = "y", .text = "z"});
  EXPECT_FALSE(log.has_rounds());
  EXPECT_EQ(log.print(), "[]");
}

}  // namespace
}  // namespace callgate::server::round_log_test
