#include "engine/dialect_stage.h"

#include <gtest/gtest.h>

#include "chat/event_grammar.h"
#include "chat/event_log.h"
#include "engine/fake_dialect_testing.h"
#include "json/writer.h"

namespace callgate::engine::dialect_stage_test {
namespace {

struct Parsed {
  std::string events;
  std::uint32_t markup = 0;
  TurnSummary summary;
};

Parsed parsed(std::initializer_list<Event> events, DialectOptions options = {},
              const Dialect& dialect = kFakeDialect,
              DialectStage::Tools tools = DialectStage::Tools::declared) {
  Parsed result;
  DialectStage stage(dialect, options, tools, result.markup, result.summary);
  EventLog log;
  CheckedSink checked(log);
  for (const Event& event : events) stage.push(event, checked);
  result.events = print(log.events());
  return result;
}

std::string printed_string(std::string_view text) {
  std::string out;
  json::append_string(out, text);
  return out;
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

TEST(DialectStage, makes_another_parser_only_for_more_text) {
  static int made;
  const Dialect counted{
      .name = "counted", .spec = kFakeDialect.spec, .make = [](const DialectOptions& options) {
        ++made;
        return kFakeDialect.make(options);
      }};
  const auto made_for = [&](std::initializer_list<Event> events) {
    made = 0;
    parsed(events, {}, counted);
    return made;
  };
  const CallStarted started{0, "g", ""};
  const CallFinished finished{0, CallOutcome::complete};
  EXPECT_EQ(made_for({TextDelta{"a"}, kStop}), 1);
  EXPECT_EQ(made_for({TextDelta{"a"}, started, finished, kStop}), 1);
  EXPECT_EQ(made_for({TextDelta{"a"}, RefusalDelta{"no"}, kStop}), 1);
  EXPECT_EQ(made_for({TextDelta{"a"}, started, finished, TextDelta{"b"}, TextDelta{"c"}, kStop}),
            2);
}

TEST(DialectStage, ends_an_open_call_before_a_refusal_and_at_the_end) {
  EXPECT_EQ(parsed({TextDelta{"[f:{"}, RefusalDelta{"no"}, kStop}).events,
            "call 0 f\nargs 0 {\nend 0 truncated\nrefusal \"no\"\nfinish length\n");
  EXPECT_EQ(parsed({TextDelta{"[f:{"}, TurnFinished{FinishReason::length}}).events,
            "call 0 f\nargs 0 {\nend 0 truncated\nfinish length\n");
}

// A tagged call that lacks its close marker, by how the upstream ended the turn.
TEST(DialectStage, ends_an_unclosed_tagged_call_as_the_turn_ended) {
  using enum FinishReason;
  const std::string_view tagged = "<tool_call>\n<function=f>\n<parameter=a>\n1\n</parameter>\n";
  const std::string_view json = R"(<tool_call>{"name": "f", "arguments": {"a": 1}})";
  const ToolSpec needs_a[] = {
      {.name = "f",
       .parameters = {R"({"properties": {"a": {"type": "integer"}}, "required": ["a"]})"}}};
  const ToolSpec needs_b[] = {
      {.name = "f",
       .parameters = {R"({"properties": {"a": {"type": "integer"}}, "required": ["a", "b"]})"}}};
  struct Row {
    std::string_view text;
    std::span<const ToolSpec> tools;
    FinishReason said;
    std::string_view outcome, finish;
  };
  for (const Row& row : {Row{tagged, needs_a, stop, "complete", "tool_calls"},
                         Row{tagged, needs_a, tool_calls, "complete", "tool_calls"},
                         Row{tagged, needs_a, length, "truncated", "length"},
                         Row{tagged, needs_a, content_filter, "truncated", "content_filter"},
                         Row{tagged, needs_a, upstream_error, "truncated", "upstream_error"},
                         Row{tagged, needs_b, stop, "truncated", "length"},
                         Row{tagged, needs_b, tool_calls, "truncated", "length"},
                         Row{json, needs_b, stop, "complete", "tool_calls"},
                         Row{json, needs_b, length, "complete", "tool_calls"}}) {
    for (const std::string_view name : {"qwen3_coder", "auto"}) {
      const std::string events = parsed({TextDelta{row.text}, TurnFinished{row.said}},
                                        {.tools = row.tools}, *dialect::find(name))
                                     .events;
      const std::string end =
          "end 0 " + std::string(row.outcome) + "\nfinish " + std::string(row.finish) + "\n";
      EXPECT_TRUE(events.ends_with(end)) << name << ": " << events << "instead of " << end;
    }
  }
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

constexpr std::string_view kWritten = "<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>";

Parsed found_by_auto(std::initializer_list<Event> events,
                     DialectStage::Tools tools = DialectStage::Tools::declared) {
  return parsed(events, {}, *dialect::find("auto"), tools);
}

TEST(DialectStage, reports_what_auto_settled_on) {
  const Parsed result = found_by_auto({TextDelta{kWritten}, kStop});
  EXPECT_EQ(result.events, "call 0 f\nargs 0 {}\nend 0 complete\nfinish tool_calls\n");
  EXPECT_EQ(result.summary.settled_on, "hermes");
  EXPECT_EQ(found_by_auto({TextDelta{"Hi."}, kStop}).summary.settled_on, "");
}

TEST(DialectStage, with_auto_text_is_text_once_a_structured_call_has_come) {
  const std::string written = "text " + printed_string(kWritten) + "\n";
  EXPECT_EQ(found_by_auto({CallStarted{0, "g", ""}, CallFinished{0, CallOutcome::complete},
                           TextDelta{kWritten}, kStop})
                .events,
            "call 0 g\nend 0 complete\n" + written + "finish tool_calls\n");
  EXPECT_EQ(found_by_auto({TextDelta{kWritten}, CallStarted{0, "g", ""},
                           CallFinished{0, CallOutcome::complete}, kStop})
                .events,
            written + "call 0 g\nend 0 complete\nfinish tool_calls\n");
}

TEST(DialectStage, a_refusal_after_a_written_call_makes_it_text) {
  EXPECT_EQ(found_by_auto({TextDelta{kWritten}, RefusalDelta{"no"}, kStop}).events,
            "text " + printed_string(kWritten) + "\nrefusal \"no\"\nfinish stop\n");
}

TEST(DialectStage, without_tools_every_dialect_leaves_calls_as_text) {
  for (const char* name : {"auto", "hermes"}) {
    const Parsed result = parsed({TextDelta{"<think>Hm.</think>"}, TextDelta{kWritten}, kStop}, {},
                                 *dialect::find(name), DialectStage::Tools::none);
    EXPECT_EQ(result.events,
              "reasoning \"Hm.\"\ntext " + printed_string(kWritten) + "\nfinish stop\n")
        << name;
    EXPECT_EQ(result.summary.text_calls, 0u);
  }
}

// Prose full of the beginnings of markers must not leave as a delta for each of them.
TEST(DialectStage, joins_false_starts_of_markers_with_their_neighbours) {
  class Counted final : public EventSink {
   public:
    void accept(const Event& event) override {
      ++events;
      if (const auto* delta = std::get_if<TextDelta>(&event)) text += delta->text;
      if (const auto* delta = std::get_if<ReasoningDelta>(&event)) text += delta->text;
    }
    std::size_t events = 0;
    std::string text;
  };
  for (const Dialect* dialect : dialect::all()) {
    for (const std::string_view start : {"<tool_cal", "<", "<|", "[", "{", "```", "<think",
                                         "<｜tool", "<function=", "to=", "[TOOL_CAL", "<|channel|",
                                         "\n<tool_call", "{\"name", "<minimax:tool", "\xEF\xBD"}) {
      SCOPED_TRACE(std::string(dialect->name) + " " + std::string(start));
      std::string piece;
      while (piece.size() < 4'000) piece += start;
      std::uint32_t markup = 0;
      TurnSummary summary;
      const ToolSpec tool{.name = "find", .parameters = {}};
      const DialectOptions options{.tools = std::span(&tool, 1)};
      DialectStage stage(*dialect, options, DialectStage::Tools::declared, markup, summary);
      Counted counted;
      constexpr std::size_t kPushes = 8;
      for (std::size_t i = 0; i < kPushes; ++i) stage.push(TextDelta{piece}, counted);
      stage.push(kStop, counted);
      // One for each push; beginnings of calls that are not any may add a few for the whole turn.
      EXPECT_LE(counted.events, 3 * kPushes);
    }
  }
}

}  // namespace
}  // namespace callgate::engine::dialect_stage_test
