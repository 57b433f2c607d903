#include "dialect/models.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace callgate::dialect::models_test {
namespace {

std::string name_of(const Dialect* dialect) {
  return dialect == nullptr ? "auto" : std::string(dialect->name);
}

struct Row {
  std::string_view model;
  std::string_view dialect;
};

// Names as hubs, servers and Ollama spell them.
constexpr Row kRows[] = {
    {"moonshotai/Kimi-K2.5", "kimi_k2"},
    {"Qwen/Qwen2.5-7B-Instruct", "hermes"},
    {"Qwen/Qwen3-32B", "hermes"},
    {"Qwen/Qwen3-Coder-480B-A35B-Instruct", "qwen3_coder"},
    {"openai/gpt-oss-120b", "harmony"},
    {"gpt-oss:20b", "harmony"},
    {"deepseek-ai/DeepSeek-V3.1", "deepseek_v31"},
    {"deepseek-ai/DeepSeek-R1", "deepseek_v3"},
    {"deepseek-ai/DeepSeek-R1-0528-Qwen3-8B", "deepseek_v3"},
    {"mistralai/Mistral-Small-3.2-24B", "mistral_v13"},
    {"meta-llama/Llama-3.3-70B-Instruct", "llama3_json"},
    {"llama3.1:8b-instruct-q4_K_M", "llama3_json"},
    {"ibm-granite/granite-3.3-8b-instruct", "granite"},
    {"ibm-granite/granite-4.0-h-small", "granite4"},
    {"meta-llama/Llama-4-Scout-17B-16E-Instruct", "pythonic"},
    {"meta-llama/Llama-4-Maverick-17B-128E-Instruct-FP8", "pythonic"},
    {"unsloth/Llama-4-Scout-17B-16E-Instruct-GGUF:Q4_K_M", "pythonic"},
    {"llama4:scout", "pythonic"},
    {"meta-llama/Llama-3.2-3B-Instruct", "pythonic"},
    {"Team-ACE/ToolACE-2-Llama-3.1-8B", "pythonic"},
    {"NousResearch/Hermes-3-Llama-3.1-8B", "hermes"},
    {"NousResearch/Hermes-2-Pro-Mistral-7B", "hermes"},
    {"tencent/Hy3", "hunyuan"},
    {"tencent/Hy3-preview", "hunyuan"},
    {"unsloth/Hy3-GGUF:UD-Q2_K_XL", "hunyuan"},
    {"hy3", "hunyuan"},
    {"tencent/Hunyuan-A13B-Instruct", "hunyuan_a13b"},
    {"arcee-ai/Trinity-Mini", "hermes"},
    {"arcee-ai/trinity-large-thinking:free", "hermes"},
    {"ServiceNow-AI/Apriel-1.6-15b-Thinker", "apriel"},
    {"unsloth/Apriel-1.5-15b-Thinker-GGUF", "apriel"},
    {"RekaAI/reka-edge-2603", "hermes"},
    {"LGAI-EXAONE/EXAONE-4.0-32B", "hermes"},
    {"LGAI-EXAONE/K-EXAONE-236B-A23B", "qwen3_coder"},
    {"internlm/Intern-S1-Pro", "internlm2"},
    {"stepfun-ai/Step-3.5-Flash", "qwen3_coder"},
    {"stepfun-ai/Step-3.6", "qwen3_coder"},
    {"stepfun-ai/Step-3.7-Flash", "qwen3_coder"},
    {"stepfun-ai/step3", "step3"},
    {"stepfun-ai/Step3-VL-10B", "hermes"},
    {"rednote-hilab/dots.llm1.inst", "dots"},
    {"rednote-hilab/dots2", "dots"},
    {"dots-studio/dots3-note-prev", "dots"},
    {"inclusionAI/Ling-2.5-1T", "hermes"},
    {"inclusionAI/Ring-2.5-1T", "hermes"},
    {"inclusionAI/Ring-2.6-1T", "glm45"},
    {"inclusionAI/Ling-3.0-flash", "glm47"},
    {"inclusionAI/Ling-3.0-tiny", "glm45"},
    {"XiaomiMiMo/MiMo-7B-RL", "hermes"},
    {"XiaomiMiMo/MiMo-V2-Flash", "qwen3_coder"},
    {"meta-models/Muse-Glimmer-30B", "muse_glimmer"},
    {"unsloth/Muse-Glimmer-30B-GGUF", "muse_glimmer"},
    {"thinkingmachines/Inkling", "inkling"},
    {"sbintuitions/sarashina2.2-3b-instruct-v0.1", "sarashina"},
    {"gpt-4o", "auto"},
    {"RekaAI/reka-flash-3", "auto"},
    {"my-model", "auto"},
};

TEST(Models, name_the_dialect_with_the_longest_pattern) {
  for (const Row& row : kRows) EXPECT_EQ(name_of(default_for(row.model)), row.dialect) << row.model;
}

TEST(Models, that_nobody_knows_have_none) {
  EXPECT_EQ(default_for("my-model"), nullptr);
  EXPECT_TRUE(choose_for("my-model").matches.empty());
}

TEST(Models, say_which_patterns_matched) {
  const ModelChoice choice = choose_for("Qwen/Qwen3-Coder-30B");
  ASSERT_EQ(choice.matches.size(), 2u);
  EXPECT_EQ(choice.matches[0].pattern, "*qwen3-coder*");
  EXPECT_EQ(choice.matches[0].dialect, choice.dialect);
  EXPECT_EQ(choice.matches[1].pattern, "*qwen3*");
  EXPECT_EQ(name_of(choice.matches[1].dialect), "hermes");
}

// What a pattern matches, as short as may be: `*llama-3*nemotron*` is `llama-3nemotron`.
std::string shortest(std::string_view pattern) {
  std::string name(pattern);
  std::erase(name, '*');
  return name;
}

TEST(Models, never_depend_on_the_order_of_the_dialects) {
  std::vector<const Dialect*> reversed(all().rbegin(), all().rend());
  std::vector<std::string> names;
  for (const Row& row : kRows) names.emplace_back(row.model);
  std::vector<std::string> words;
  for (const Dialect* dialect : all()) {
    for (const std::string_view pattern : dialect->models) words.push_back(shortest(pattern));
  }
  // A model that is made of two others: every pair of patterns meets.
  for (const std::string& first : words) {
    names.push_back(first);
    for (const std::string& second : words) names.push_back(first + "-" + second);
  }
  for (const std::string& name : names) {
    ASSERT_EQ(name_of(default_for(name)), name_of(choose_for(name, reversed).dialect)) << name;
  }
}

TEST(Models, leave_a_name_that_two_dialects_claim_alike_to_auto) {
  constexpr std::string_view kOne[] = {"*mixed*"};
  constexpr std::string_view kTwo[] = {"*model*"};
  const Dialect one{.name = "one", .spec = "", .models = kOne};
  const Dialect two{.name = "two", .spec = "", .models = kTwo};
  const Dialect* const both[] = {&two, &one};
  const ModelChoice choice = choose_for("mixed-model", both);
  EXPECT_EQ(choice.dialect, nullptr);
  ASSERT_EQ(choice.matches.size(), 2u);
  EXPECT_EQ(choice.matches[0].dialect, &one);
}

TEST(Models, have_patterns_that_no_two_dialects_share) {
  std::vector<std::string_view> patterns;
  for (const Dialect* dialect : all()) {
    patterns.insert(patterns.end(), dialect->models.begin(), dialect->models.end());
  }
  std::sort(patterns.begin(), patterns.end());
  EXPECT_EQ(std::adjacent_find(patterns.begin(), patterns.end()), patterns.end());
}

// No name that is known, and no pattern by itself, is left without a dialect by a tie.
TEST(Models, that_are_known_are_never_tied) {
  for (const Row& row : kRows) {
    const ModelChoice choice = choose_for(row.model);
    EXPECT_EQ(choice.dialect == nullptr, choice.matches.empty()) << row.model;
  }
  for (const Dialect* dialect : all()) {
    for (const std::string_view pattern : dialect->models) {
      EXPECT_EQ(name_of(default_for(shortest(pattern))), dialect->name) << pattern;
    }
  }
}

}  // namespace
}  // namespace callgate::dialect::models_test
