// `auto` beside the dialects it picks: on the golden cases of a dialect whose opener can mean nothing else, both give the
// same. docs/dialects.md tells how the others are settled.
#include <gtest/gtest.h>

#include <algorithm>

#include "chat/event_log.h"
#include "dialect/golden_testing.h"

namespace callgate::dialect {
namespace {

using golden::Case;

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
    {"lfm2", "bare_list", "a list counts at the start only"},
    {"minicpm5", "call_wrapper", "<tool_call> and a tag is qwen3_coder"},
    {"seed_oss", "newlines_are_data", "<function= without its section is qwen3_coder"},
    {"solar_open", "reasoning_prompt_opened", "<|end|> ends turns of other dialects"},
    {"use_tool", "text_before", "the white space left before the dialect was known"},
    {"use_tool", "whole_call", "the white space left before the dialect was known"},
};

bool is_exception(std::string_view dialect, std::string_view name) {
  return std::any_of(std::begin(kExceptions), std::end(kExceptions),
                     [&](const Exception& e) { return e.dialect == dialect && e.name == name; });
}

// A closer alone does not pick a dialect, nor does an empty block: whether it is hidden is not known.
bool is_orphan(std::string_view name) {
  return name.starts_with("orphan_") || name == "empty_block";
}

std::string run(const Dialect& dialect, const Case& test) {
  EventLog log;
  const std::unique_ptr<DialectParser> parser = dialect.make(test.options());
  parser->push(test.in, test.channel, log);
  parser->finish(log);
  return print(log.events());
}

class Auto : public testing::TestWithParam<std::string_view> {};

TEST_P(Auto, gives_what_the_dialect_gives) {
  const Dialect& dialect = *find(GetParam());
  std::size_t compared = 0;
  for (const Case& test : golden::cases_of(dialect)) {
    if (!test.reason.empty() || is_orphan(test.name)) continue;
    if (is_exception(dialect.name, test.name)) {
      EXPECT_NE(run(*find("auto"), test), test.out) << test.name << " is no exception any more";
      continue;
    }
    EXPECT_EQ(run(*find("auto"), test), test.out) << test.name;
    ++compared;
  }
  EXPECT_GT(compared, 0u);
}

INSTANTIATE_TEST_SUITE_P(Dialects, Auto, testing::ValuesIn(kUnambiguous),
                         [](const auto& row) { return std::string(row.param); });

}  // namespace
}  // namespace callgate::dialect
