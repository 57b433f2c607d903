#include "engine/dialect_stage.h"

#include <gtest/gtest.h>

#include "chat/event_grammar.h"
#include "chat/event_log.h"
#include "engine/fake_dialect_testing.h"

namespace callgate::engine {
namespace {

struct Parsed {
  std::string events;
  std::uint32_t markup = 0;
  TurnSummary summary;
};

Parsed parsed(std::initializer_list<Event> events, DialectOptions options = {}) {
  Parsed result;
  DialectStage stage(kFakeDialect, options, result.markup, result.summary);
  EventLog log;
  CheckedSink checked(log);
  for (const Event& event : events) stage.push(event, checked);
  result.events = print(log.events());
  return result;
}

constexpr TurnFinished kStop{FinishReason::stop};

TEST(DialectStage, turns_text_into_calls_and_says_so_at_the_end) {
  const Parsed result = parsed({TextDelta{"a[fi"}, TextDelta{"nd:{}]b"}, kStop});
  EXPECT_EQ(result.events,
            "text \"a\"\ncall 0 find\nargs 0 {}\nend 0 complete\ntext \"b\"\nfinish tool_calls\n");
  EXPECT_EQ(result.markup, 1u);
  EXPECT_EQ(result.summary.text_calls, 1u);
}

TEST(DialectStage, counts_text_of_which_nothing_could_leave) {
  const Parsed result = parsed({TextDelta{"a"}, TextDelta{"[fi"}, TextDelta{"nd:{}]b"}, kStop});
  EXPECT_EQ(result.summary.held_back_deltas, 1u);
  EXPECT_EQ(result.summary.held_back_bytes, 3u);
}

TEST(DialectStage, leaves_plain_text_and_its_reason_alone) {
  const Parsed result = parsed({TextDelta{"hello"}, kStop});
  EXPECT_EQ(result.events, "text \"hello\"\nfinish stop\n");
  EXPECT_EQ(result.markup, 0u);
}

TEST(DialectStage, counts_reasoning_in_text_once) {
  EXPECT_EQ(parsed({TextDelta{"(ab)c(d)"}, kStop}).markup, 1u);
  EXPECT_EQ(parsed({ReasoningDelta{"ab"}, TextDelta{"c"}, kStop}).markup, 0u);
}

TEST(DialectStage, finds_calls_in_the_reasoning_channel) {
  EXPECT_EQ(parsed({ReasoningDelta{"x[f:1]"}, kStop}).events,
            "reasoning \"x\"\ncall 0 f\nargs 0 1\nend 0 complete\nfinish tool_calls\n");
}

TEST(DialectStage, numbers_native_calls_and_written_ones_in_one_row) {
  const Parsed result =
      parsed({TextDelta{"[f:1]"}, CallStarted{0, "g", "id"}, ArgumentsDelta{0, "2"},
              CallFinished{0, CallOutcome::complete}, TextDelta{"[h:3]"}, kStop});
  EXPECT_EQ(result.events,
            "call 0 f\nargs 0 1\nend 0 complete\ncall 1 g id=id\nargs 1 2\nend 1 complete\n"
            "call 2 h\nargs 2 3\nend 2 complete\nfinish tool_calls\n");
}

TEST(DialectStage, lets_what_is_held_back_leave_before_a_native_call) {
  EXPECT_EQ(parsed({TextDelta{"a[b"}, CallStarted{0, "g", ""},
                    CallFinished{0, CallOutcome::complete}, TextDelta{"c"}, kStop})
                .events,
            "text \"a[b\"\ncall 0 g\nend 0 complete\ntext \"c\"\nfinish tool_calls\n");
}

TEST(DialectStage, ends_an_open_call_before_a_refusal_and_at_the_end) {
  EXPECT_EQ(parsed({TextDelta{"[f:{"}, RefusalDelta{"no"}, kStop}).events,
            "call 0 f\nargs 0 {\nend 0 truncated\nrefusal \"no\"\nfinish length\n");
  EXPECT_EQ(parsed({TextDelta{"[f:{"}, TurnFinished{FinishReason::length}}).events,
            "call 0 f\nargs 0 {\nend 0 truncated\nfinish length\n");
}

TEST(DialectStage, lets_usage_and_fields_pass_beside_the_parser) {
  EXPECT_EQ(
      parsed({TextDelta{"[f:"}, UsageReported{{.total_tokens = 3}}, TextDelta{"1]"}, kStop}).events,
      "call 0 f\nusage prompt=0 completion=0 total=3\nargs 0 1\nend 0 complete\n"
      "finish tool_calls\n");
}

TEST(DialectStage, starts_inside_reasoning_when_the_prompt_opened_it) {
  EXPECT_EQ(parsed({TextDelta{"hm)yes"}, kStop}, {.start = Channel::reasoning}).events,
            "reasoning \"hm\"\ntext \"yes\"\nfinish stop\n");
}

}  // namespace
}  // namespace callgate::engine
