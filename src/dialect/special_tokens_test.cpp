#include "dialect/special_tokens.h"

#include <gtest/gtest.h>

namespace callgate::dialect::special_tokens_test {
namespace {

TEST(SpecialTokens, are_kept_for_every_dialect_that_may_have_them) {
  for (const std::string_view name :
       {"mistral_old", "mistral_v13", "kimi_k2", "deepseek_v31", "harmony", "granite", "gemma4",
        "cohere_command_r7b", "internlm2", "jamba", "hermes", "auto", "a dialect of tomorrow"}) {
    EXPECT_TRUE(writes_special_tokens(name)) << name;
  }
  for (const std::string_view name : {"anthropic_xml", "generic_xml", "olmo3", "xlam", "native"}) {
    EXPECT_FALSE(writes_special_tokens(name)) << name;
  }
}

}  // namespace
}  // namespace callgate::dialect::special_tokens_test
