#include "chat/sealed_reasoning.h"

#include <gtest/gtest.h>

namespace callgate::sealed_reasoning_test {
namespace {

TEST(SealedReasoning, comes_back_as_it_was) {
  for (const std::string& detail :
       {std::string("{}"), std::string(R"({"type":"reasoning.encrypted","data":"Em\nwK é"})")}) {
    const auto sealed = seal_reasoning(detail);
    ASSERT_TRUE(sealed);
    EXPECT_EQ(unseal_reasoning(*sealed), detail);
  }
}

TEST(SealedReasoning, is_nothing_else) {
  EXPECT_EQ(unseal_reasoning(""), std::nullopt);
  EXPECT_EQ(unseal_reasoning("EqQB"), std::nullopt);
  EXPECT_EQ(unseal_reasoning("callgate.1."), std::nullopt);
  EXPECT_EQ(unseal_reasoning("callgate.1.e30"), std::nullopt);   // padding is missing
  EXPECT_EQ(unseal_reasoning("callgate.1.W10="), std::nullopt);  // []
  EXPECT_EQ(unseal_reasoning("callgate.1.eyJh"), std::nullopt);  // {"a
  EXPECT_EQ(unseal_reasoning("callgate.1.e30="), "{}");
}

TEST(SealedReasoning, has_a_limit) {
  const std::string longest = "{\"a\":\"" + std::string(kMaxSealedReasoning - 8, 'x') + "\"}";
  ASSERT_EQ(longest.size(), kMaxSealedReasoning);
  EXPECT_EQ(unseal_reasoning(seal_reasoning(longest).value_or("")), longest);
  EXPECT_EQ(seal_reasoning(longest + " "), std::nullopt);
}

}  // namespace
}  // namespace callgate::sealed_reasoning_test
