#include "chat/event_log.h"

#include <gtest/gtest.h>

#include "chat/event_grammar.h"

namespace callgate::event_log_test {
namespace {

TEST(EventLog, joins_neighbouring_deltas_and_keeps_order) {
  EventLog log;
  log.accept(TextDelta{"Let me "});
  log.accept(TextDelta{"look."});
  log.accept(CallStarted{.call = 0, .name = "find", .native_id = "f1"});
  log.accept(ArgumentsDelta{0, "{\"q\":"});
  log.accept(ArgumentsDelta{0, "1}"});
  log.accept(CallFinished{0, CallOutcome::complete});
  log.accept(TextDelta{"Done."});
  log.accept(TurnFinished{FinishReason::tool_calls});
  EXPECT_EQ(print(log.events()),
            "text \"Let me look.\"\n"
            "call 0 find id=f1\n"
            "args 0 {\"q\":1}\n"
            "end 0 complete\n"
            "text \"Done.\"\n"
            "finish tool_calls\n");
  EXPECT_EQ(log.text(), "Let me look.Done.");
  EXPECT_EQ(log.calls().at(0).arguments, "{\"q\":1}");
  EXPECT_EQ(log.reason(), FinishReason::tool_calls);
}

TEST(EventGrammar, names_the_rule_that_broke) {
  EventGrammar grammar;
  EXPECT_EQ(grammar.check(TextDelta{""}), "a delta is never empty");
  EXPECT_EQ(grammar.check(TextDelta{"\xC3"}), "a delta holds whole UTF-8 sequences");
  EXPECT_EQ(grammar.check(CallStarted{.call = 1, .name = "f"}), "call indices count up from 0");
  EXPECT_EQ(grammar.check(CallStarted{.call = 0, .name = "f"}), "");
  EXPECT_EQ(grammar.check(TextDelta{"x"}), "no text while a call is open");
  EXPECT_EQ(grammar.check(CallStarted{.call = 1, .name = "g"}), "calls never interleave");
  EXPECT_EQ(grammar.check(TurnFinished{}), "a call must be finished before the turn");
  EXPECT_EQ(grammar.check(CallFinished{0, CallOutcome::complete}), "");
  EXPECT_EQ(grammar.check_end(), "every turn ends with TurnFinished");
  EXPECT_EQ(grammar.check(TurnFinished{}), "");
  EXPECT_EQ(grammar.check(TextDelta{"x"}), "nothing may follow TurnFinished");
}

TEST(EventGrammar, ties_arguments_fields_and_ends_to_the_open_call) {
  constexpr auto kOfCall = FieldReported::Scope::call;
  constexpr std::string_view kArguments = "arguments belong to the open call";
  constexpr std::string_view kField = "a call's field belongs to the open call";
  constexpr std::string_view kEnd = "only the open call can be finished";
  EventGrammar grammar;
  EXPECT_EQ(grammar.check(ArgumentsDelta{0, "{}"}), kArguments) << "no call is open";
  EXPECT_EQ(grammar.check(FieldReported{kOfCall, "n", "1", 0}), kField) << "no call is open";
  EXPECT_EQ(grammar.check(CallFinished{0, CallOutcome::complete}), kEnd) << "no call is open";
  EXPECT_EQ(grammar.check(CallStarted{.call = 0, .name = ""}), "a call has a name");
  ASSERT_EQ(grammar.check(CallStarted{.call = 0, .name = "f"}), "");
  EXPECT_EQ(grammar.check(ArgumentsDelta{1, "{}"}), kArguments) << "another call";
  EXPECT_EQ(grammar.check(FieldReported{kOfCall, "n", "1", 1}), kField) << "another call";
  EXPECT_EQ(grammar.check(CallFinished{1, CallOutcome::complete}), kEnd) << "another call";
  EXPECT_EQ(grammar.check(ReasoningDelta{"x"}), "no text while a call is open");
  EXPECT_EQ(grammar.check(RefusalDelta{"x"}), "no text while a call is open");
  EXPECT_EQ(grammar.check(ArgumentsDelta{0, ""}), "a delta is never empty");
  EXPECT_EQ(grammar.check(ArgumentsDelta{0, "{}"}), "");
  EXPECT_EQ(grammar.check(FieldReported{kOfCall, "n", "1", 0}), "");
  EXPECT_EQ(grammar.check_calls_closed(), "a call was left open");
  EXPECT_EQ(grammar.check(CallFinished{0, CallOutcome::complete}), "");
  EXPECT_EQ(grammar.check_calls_closed(), "");
  EXPECT_EQ(grammar.check(CallStarted{.call = 0, .name = "g"}), "call indices count up from 0");
  EXPECT_EQ(grammar.check(CallStarted{.call = 1, .name = "g"}), "");
}

TEST(EventGrammar, wants_a_name_and_a_value_of_every_field) {
  constexpr auto kOfTurn = FieldReported::Scope::turn;
  EventGrammar grammar;
  EXPECT_EQ(grammar.check(FieldReported{kOfTurn, "", "1"}), "a field has a name and a value");
  EXPECT_EQ(grammar.check(FieldReported{kOfTurn, "n", ""}), "a field has a name and a value");
  EXPECT_EQ(grammar.check(FieldReported{kOfTurn, "n", "1"}), "");
  EXPECT_EQ(grammar.check(UsageReported{}), "");
}

}  // namespace
}  // namespace callgate::event_log_test
