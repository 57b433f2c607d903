#include "base/ids.h"

#include <gtest/gtest.h>

#include <set>

namespace callgate {
namespace {

TEST(IdMint, gives_the_same_ids_for_the_same_seed) {
  IdMint a(7);
  IdMint b(7);
  EXPECT_EQ(a.mint("call_"), b.mint("call_"));
  EXPECT_NE(a.mint("call_"), IdMint(8).mint("call_"));
}

TEST(IdMint, never_repeats_in_a_long_run) {
  IdMint mint(1);
  std::set<std::string> seen;
  for (int i = 0; i < 10000; ++i) EXPECT_TRUE(seen.insert(mint.mint("call_")).second);
}

TEST(IdMint, writes_prefix_and_length) {
  const std::string id = IdMint(3).mint("chatcmpl-", 29);
  EXPECT_EQ(id.size(), 9u + 29u);
  EXPECT_EQ(id.substr(0, 9), "chatcmpl-");
}

}  // namespace
}  // namespace callgate
