// `auto` beside the dialects it picks: on the golden cases of a dialect whose opener can mean nothing else, both give the
// same, except where a rule of `auto` says otherwise.
#include <gtest/gtest.h>

#include <algorithm>

#include "chat/event_log.h"
#include "dialect/family/call_object.h"
#include "dialect/golden_testing.h"

namespace callgate::dialect::auto_test {
namespace {

using golden::Case;
using Kind = LoggedEvent::Kind;

constexpr std::string_view kUnambiguous[] = {
    "anthropic_xml", "apertus",     "cohere_command_r7b",
    "deepseek_v31",  "deepseek_v4", "dots",
    "functiongemma", "gemma4",      "gigachat3",
    "granite20b_fc", "harmony",     "hermes",
    "internlm2",     "kimi_k2",     "kimi_k3",
    "lfm2",          "longcat",     "minicpm5",
    "minimax_m2",    "minimax_m3",  "mistral_v13",
    "nemotron_deci", "phi4_mini",   "qwen3_coder",
    "seed_oss",      "solar_open",  "step3",
    "use_tool",
};

// What `auto` cannot know: cases whose text, taken alone, means something else.
struct Exception {
  std::string_view dialect;
  std::string_view name;
  std::string_view why;
};
constexpr Exception kExceptions[] = {
    {"anthropic_xml", "json_call", "<function_calls> and a brace could be anyone's"},
    {"cohere_command_r7b", "fenced_action", "`Action:` and a fence are ordinary prose"},
    {"deepseek_v31", "made_up_outputs", "results pick no dialect"},
    {"harmony", "prompt_began_header", "the header was begun in the prompt"},
    {"harmony", "reasoning_prompt_opened", "<|end|> ends turns of other dialects"},
    {"harmony", "unknown_role", "only <|start|>assistant is a sign"},
    {"kimi_k2", "stripped_openers", "a name and a colon are ordinary prose"},
    {"kimi_k3", "call_after_the_message", "the end of a message picks no dialect"},
    {"kimi_k3", "close_without_sep", "half a tag picks no dialect"},
    {"kimi_k3", "cut_after_open", "half a tag picks no dialect"},
    {"kimi_k3", "cut_in_close", "half a tag picks no dialect"},
    {"kimi_k3", "end_of_msg_alone", "the end of a message picks no dialect"},
    {"minicpm5", "call_wrapper", "<tool_call> and a tag is qwen3_coder"},
    {"seed_oss", "newlines_are_data", "<function= without its section is qwen3_coder"},
    {"solar_open", "reasoning_prompt_opened", "<|end|> ends turns of other dialects"},
    {"use_tool", "bare_json", "JSON without a tag says nothing of use_tool"},
    {"use_tool", "behind_a_stray_backtick", "the white space left before the dialect was known"},
    {"use_tool", "fenced_json", "JSON without a tag says nothing of use_tool"},
    {"use_tool", "json_in_a_plain_fence", "JSON without a tag says nothing of use_tool"},
    {"use_tool", "text_before", "the white space left before the dialect was known"},
    {"use_tool", "whole_call", "the white space left before the dialect was known"},
};

bool is_exception(std::string_view dialect, std::string_view name) {
  return std::any_of(std::begin(kExceptions), std::end(kExceptions),
                     [&](const Exception& e) { return e.dialect == dialect && e.name == name; });
}

// A closer alone does not pick a dialect, nor does a block without a call: whether it is hidden is not known.
bool is_orphan(std::string_view name) {
  return name.starts_with("orphan_") || name.starts_with("garbage_") || name == "empty_block";
}

EventLog run(const Dialect& dialect, const Case& test) {
  EventLog log;
  const std::unique_ptr<DialectParser> parser = test.make(dialect);
  parser->push(test.in, test.channel, log);
  if (test.cut_off) parser->cut_off();
  parser->finish(log);
  return log;
}

bool is_prose(const LoggedEvent& event) {
  return event.kind == Kind::text || event.kind == Kind::reasoning;
}

// The rule by which `auto` leaves calls of the case as text, or nothing.
std::string_view rule_for(const Case& test, const EventLog& given) {
  const auto& events = given.events();
  bool called = false;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events[i].kind == Kind::call) {
      called = true;
      if (!test.tools.empty() && !is_declared(test.tools, events[i].text)) return "undeclared";
      if (i > 0 && events[i - 1].kind == Kind::text && !events[i - 1].text.ends_with('\n')) {
        return "not at the start of a line";
      }
    }
    if (called && is_prose(events[i])) return "prose follows";
  }
  if (!called) return "nothing is called";
  return test.channel == Channel::reasoning ? "in the reasoning field" : "";
}

class Auto : public testing::TestWithParam<std::string_view> {};

TEST_P(Auto, gives_what_the_dialect_gives) {
  const Dialect& dialect = *find(GetParam());
  std::size_t compared = 0;
  for (const Case& test : golden::cases_of(dialect)) {
    if (!test.reason.empty() || is_orphan(test.name)) continue;
    const EventLog given = run(dialect, test);
    const EventLog found = run(*find("auto"), test);
    if (is_exception(dialect.name, test.name)) {
      EXPECT_NE(print(found.events()), test.out) << test.name << " is no exception any more";
    } else if (print(found.events()) == test.out) {
      ++compared;
    } else {
      EXPECT_NE(rule_for(test, given), "") << test.name << "\n"
                                           << print(found.events()) << "\nnot\n"
                                           << test.out;
      EXPECT_LE(found.calls().size(), given.calls().size()) << test.name;
    }
  }
  EXPECT_GT(compared, 0u);
}

TEST(AutoInterrupted, lets_a_kept_call_go_as_text) {
  constexpr std::string_view kTurns[] = {
      R"(<tool_call>{"name": "f", "arguments": {}}</tool_call>)",
      R"(<tool_call>{"name": "f", "argum)",
      R"(<|channel|>commentary to=functions.f<|message|>{}<|call|>)",
  };
  for (const std::string_view turn : kTurns) {
    EventLog log;
    const std::unique_ptr<DialectParser> parser = find("auto")->make({});
    parser->push(turn, Channel::text, log);
    parser->interrupt(log);
    EXPECT_EQ(log.text(), turn);
    EXPECT_TRUE(log.calls().empty());
  }
}

// Text after calls in the reasoning field makes them a quotation, each in its own channel.
TEST(AutoChannels, keeps_a_block_in_the_channel_that_it_began_in) {
  constexpr std::string_view kCall =
      "<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{}<|tool_call_end|>";
  EventLog log;
  const std::unique_ptr<DialectParser> parser = find("auto")->make({});
  parser->push("Hm. ", Channel::reasoning, log);
  parser->push(kCall, Channel::reasoning, log);
  parser->push("Done.", Channel::text, log);
  parser->finish(log);
  EXPECT_EQ(log.reasoning(), "Hm. " + std::string(kCall));
  EXPECT_EQ(log.text(), "Done.");
  EXPECT_TRUE(log.calls().empty());
}

// A call that is too long to be kept leaves as it is read, and only its latest bytes are kept.
TEST(AutoChannels, leaves_a_long_call_that_began_in_the_other_channel) {
  const std::string begin =
      "<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{\"a\": \"" +
      std::string(300, 'x');
  constexpr std::string_view kEnd = "\"}<|tool_call_end|>Done.";
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, begin.size()}) {
    EventLog log;
    const std::unique_ptr<DialectParser> parser = find("auto")->make({.max_held_back = 100});
    const auto push = [&](std::string_view text, Channel channel) {
      for (; !text.empty(); text.remove_prefix(std::min(piece, text.size()))) {
        parser->push(text.substr(0, piece), channel, log);
      }
    };
    push(begin, Channel::reasoning);
    push(kEnd, Channel::text);
    parser->finish(log);
    ASSERT_EQ(log.calls().size(), 1u) << piece;
    EXPECT_EQ(log.calls()[0].outcome, CallOutcome::complete);
    EXPECT_EQ(log.reasoning(), "") << piece;
    EXPECT_EQ(log.text(), "Done.") << piece;
  }
}

TEST(AutoSettled, names_the_dialect_of_the_calls) {
  const auto settled_on = [](std::string_view turn) {
    EventLog log;
    const std::unique_ptr<DialectParser> parser = find("auto")->make({});
    parser->push(turn, Channel::text, log);
    parser->finish(log);
    return std::string(parser->settled_on());
  };
  EXPECT_EQ(settled_on("Hello."), "");
  EXPECT_EQ(settled_on(R"(<tool_call>{"name": "f", "arguments": {}}</tool_call> so.)"), "");
  EXPECT_EQ(settled_on(R"(<tool_call>{"name": "f", "arguments": {}}</tool_call>)"), "hermes");
  EXPECT_EQ(settled_on("<|channel|>commentary to=functions.f<|message|>{}<|call|>"), "harmony");
}

INSTANTIATE_TEST_SUITE_P(Dialects, Auto, testing::ValuesIn(kUnambiguous),
                         [](const auto& row) { return std::string(row.param); });

}  // namespace
}  // namespace callgate::dialect::auto_test
