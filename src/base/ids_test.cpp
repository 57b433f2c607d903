#include "base/ids.h"

#include <gtest/gtest.h>

#include <set>

namespace callgate::ids_test {
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

TEST(IdMint, timed_ids_sort_by_their_time) {
  IdMint mint(7);
  std::string last;
  for (const std::int64_t time : {0LL, 1LL, 61LL, 62LL, 1'760'000'000'000LL, 1'760'000'000'001LL}) {
    const std::string id = mint.mint_timed("req_", time);
    EXPECT_EQ(id.size(), 28u);
    EXPECT_TRUE(id.starts_with("req_"));
    EXPECT_LT(last, id);
    last = id;
  }
  EXPECT_NE(mint.mint_timed("", 5), mint.mint_timed("", 5));
}

}  // namespace
}  // namespace callgate::ids_test
