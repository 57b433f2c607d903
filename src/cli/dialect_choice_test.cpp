#include "cli/dialect_choice.h"

#include <gtest/gtest.h>

namespace callgate::cli::dialect_choice_test {
namespace {

std::string text_for(std::string_view model) {
  return print_choice(model, dialect::choose_for(model));
}

TEST(DialectChoice, says_which_pattern_won_and_which_ones_lost) {
  EXPECT_EQ(
      text_for("unsloth/Qwen3-Coder-30B-GGUF:Q4_K_M"),
      "unsloth/Qwen3-Coder-30B-GGUF:Q4_K_M: qwen3_coder (the longest pattern that matches the "
      "name)\n"
      "  *qwen3-coder*  qwen3_coder  chosen: longest pattern\n"
      "  *qwen3*  hermes  shorter pattern\n");
  EXPECT_EQ(
      text_for("Team-ACE/ToolACE-2-Llama-3.1-8B"),
      "Team-ACE/ToolACE-2-Llama-3.1-8B: pythonic (the longest pattern that matches the name)\n"
      "  *toolace*llama-3*  pythonic  chosen: longest pattern\n"
      "  *llama-3*  llama3_json  shorter pattern\n"
      "  *toolace*  pythonic  same dialect\n");
}

TEST(DialectChoice, is_auto_for_a_name_that_nobody_knows) {
  EXPECT_EQ(text_for("my-model"), "my-model: auto (no pattern matches the name)\n");
  EXPECT_EQ(print_choice_json("my-model", dialect::choose_for("my-model")),
            R"({"model":"my-model","dialect":"auto","reason":"no pattern matches the name",)"
            R"("matches":[]})");
}

TEST(DialectChoice, is_auto_for_a_name_that_two_dialects_claim_alike) {
  constexpr std::string_view kOne[] = {"*mixed*", "*mix*"};
  constexpr std::string_view kTwo[] = {"*model*"};
  const Dialect one{.name = "one", .spec = "", .models = kOne};
  const Dialect two{.name = "two", .spec = "", .models = kTwo};
  const Dialect* const both[] = {&one, &two};
  EXPECT_EQ(print_choice("mixed-model", dialect::choose_for("mixed-model", both)),
            "mixed-model: auto (several dialects have equally long patterns)\n"
            "  *mixed*  one  equally long\n"
            "  *model*  two  equally long\n"
            "  *mix*  one  shorter pattern\n");
}

TEST(DialectChoice, is_also_there_for_machines) {
  EXPECT_EQ(print_choice_json("kimi-k3", dialect::choose_for("kimi-k3")),
            R"({"model":"kimi-k3","dialect":"kimi_k3",)"
            R"("reason":"the longest pattern that matches the name","matches":[)"
            R"({"pattern":"*kimi-k3*","dialect":"kimi_k3","verdict":"chosen: longest pattern"}]})");
}

}  // namespace
}  // namespace callgate::cli::dialect_choice_test
