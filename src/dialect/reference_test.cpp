// Every dialect against its reference: golden inputs, turns made at random, and both of them damaged.
#include <gtest/gtest.h>

#include "dialect/golden_testing.h"
#include "dialect/random_turn_testing.h"
#include "dialect/reference_testing.h"

namespace callgate::dialect::reference::reference_test {
namespace {

struct Row {
  std::string_view dialect;
  ReasoningText reasoning = {};
  double opinions = 0.5;  // the least share of turns on which the reference has one
};

constexpr Row kRows[] = {
    {"apertus", {"<|inner_prefix|>", "<|inner_suffix|>"}},
    {"apriel", {"Here are my reasoning steps:\n", "\n[BEGIN FINAL RESPONSE]\n"}},
    {"cohere_command_r7b", {"<|START_THINKING|>", "<|END_THINKING|>"}},
    {"deepseek_v3"},
    {"deepseek_v31"},
    {"dots"},
    {"ernie45"},
    {"functionary_v31"},
    {"functionary_v32"},
    {"functiongemma"},
    {"gemma4", {"<|channel>thought\n", "<channel|>"}},
    {"gigachat3"},
    {"granite"},
    {"granite20b_fc"},
    {"granite4"},
    {"harmony", {"<|channel|>analysis<|message|>", "<|end|>"}},
    {"hermes"},
    {"hunyuan_a13b"},
    {"inkling", {"<|content_thinking|>", "<|end_message|>"}},
    {"internlm2"},
    {"jamba"},
    {"json_array"},
    {"kimi_k2"},
    {"lfm2"},
    {"llama3_json"},
    {"longcat"},
    {"minimax_m1"},
    {"mistral_old", {"[THINK]", "[/THINK]"}},
    {"mistral_v13", {"[THINK]", "[/THINK]"}},
    // Its reference knows no schemas, which most goldens have.
    {"muse_glimmer", {"<|start|>assistant to=self<|message|>", "<|eom|>"}, 0.35},
    {"nemotron_deci"},
    {"olmo3"},
    {"phi4_mini"},
    {"pythonic"},
    {"sarashina"},
    {"solar_open", {"<|think|>", "<|end|>"}},
    {"xlam"},
};

std::vector<ToolSpec> declared() {
  std::vector<ToolSpec> tools;
  for (const char* name : {"get_weather", "run", "search-web", "mcp.read"}) {
    tools.push_back({.name = name});
  }
  return tools;
}

class AgainstReference : public testing::TestWithParam<Row> {};

TEST_P(AgainstReference, says_the_same) {
  const Dialect* dialect = find(GetParam().dialect);
  ASSERT_NE(dialect, nullptr);
  ASSERT_NE(find_reference(dialect->name), nullptr);
  const std::vector<ToolSpec> tools = declared();
  Comparison comparison(*dialect);
  std::vector<std::string> inputs;
  for (const golden::Case& test : golden::cases_of(*dialect)) {
    const bool plain = test.reason.empty() && test.commit == Commit::eager &&
                       test.channel == Channel::text && test.max_held_back > 1000;
    if (!plain) continue;
    inputs.push_back(test.in);
    comparison.expect_same({test.in, test.tools, test.reasoning_open}, test.name);
  }
  RandomTurns turns(dialect->name, GetParam().reasoning, seed());
  for (int round = 0; round < rounds() && !HasFailure(); ++round) {
    inputs.push_back(turns.next());
    comparison.expect_same({inputs.back(), tools, turns.random().one_in(8)}, "random turn");
  }
  for (int round = 0; round < 2 * rounds() && !HasFailure(); ++round) {
    std::string text = turns.random().pick(inputs);
    for (std::size_t left = 1 + turns.random().below(2); left > 0; --left) {
      damage(text, inputs, turns.random());
    }
    comparison.expect_same({text, tools, turns.random().one_in(8)}, "damaged turn");
  }
  comparison.expect_opinions(GetParam().opinions);
}

INSTANTIATE_TEST_SUITE_P(Dialects, AgainstReference, testing::ValuesIn(kRows),
                         [](const auto& row) { return std::string(row.param.dialect); });

}  // namespace
}  // namespace callgate::dialect::reference::reference_test
