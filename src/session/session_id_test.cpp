#include "session/session_id.h"

#include <gtest/gtest.h>

namespace callgate::server::session_id_test {
namespace {

TEST(SessionId, is_known_again) {
  IdMint mint(7);
  const std::string id = mint_session(mint);
  EXPECT_EQ(id.size(), 29u);
  EXPECT_TRUE(is_session_id(id));
  EXPECT_NE(mint_session(mint), id);
}

TEST(SessionId, is_a_prefix_and_24_letters_or_digits) {
  const std::string good = "sess_0123456789abcdefghijKLMN";
  EXPECT_TRUE(is_session_id(good));
  EXPECT_FALSE(is_session_id(good.substr(0, 28)));
  EXPECT_FALSE(is_session_id(good + "x"));
  EXPECT_FALSE(is_session_id("sesx" + good.substr(4)));
  for (const std::size_t at : {std::size_t{5}, std::size_t{17}, std::size_t{28}}) {
    std::string bad = good;
    bad[at] = '-';
    EXPECT_FALSE(is_session_id(bad)) << bad;
  }
  EXPECT_FALSE(is_session_id(""));
}

}  // namespace
}  // namespace callgate::server::session_id_test
