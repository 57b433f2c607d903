#include "dialect/models.h"

#include <gtest/gtest.h>

namespace callgate::dialect {
namespace {

TEST(Models, name_the_dialect_with_the_longest_pattern) {
  const struct {
    std::string_view model;
    std::string_view dialect;
  } rows[] = {
      {"moonshotai/Kimi-K2.5", "kimi_k2"},
      {"Qwen/Qwen2.5-7B-Instruct", "hermes"},
      {"Qwen/Qwen3-32B", "hermes"},
      {"Qwen/Qwen3-Coder-480B-A35B-Instruct", "qwen3_coder"},
      {"openai/gpt-oss-120b", "harmony"},
      {"deepseek-ai/DeepSeek-V3.1", "deepseek_v31"},
      {"deepseek-ai/DeepSeek-R1", "deepseek_v3"},
      {"mistralai/Mistral-Small-3.2-24B", "mistral_v13"},
      {"meta-llama/Llama-3.3-70B-Instruct", "llama3_json"},
      {"ibm-granite/granite-3.3-8b-instruct", "granite"},
      {"ibm-granite/granite-4.0-h-small", "granite4"},
  };
  for (const auto& row : rows) {
    const Dialect* dialect = default_for(row.model);
    ASSERT_NE(dialect, nullptr) << row.model;
    EXPECT_EQ(dialect->name, row.dialect) << row.model;
  }
}

TEST(Models, that_nobody_knows_have_none) { EXPECT_EQ(default_for("my-model"), nullptr); }

}  // namespace
}  // namespace callgate::dialect
