#include "base/secret.h"

#include <gtest/gtest.h>

#include <sstream>
#include <type_traits>

namespace callgate::secret_test {
namespace {

TEST(Secret, matches_itself_only) {
  const Secret secret("sk-0123456789abcdef");
  EXPECT_TRUE(secret.matches("sk-0123456789abcdef"));
  EXPECT_FALSE(secret.matches("sk-0123456789abcdeF"));
  EXPECT_FALSE(secret.matches("sk-0123456789abcde"));
  EXPECT_FALSE(secret.matches("sk-0123456789abcdefsk-0123456789abcdef"));
  EXPECT_FALSE(secret.matches(""));
  EXPECT_TRUE(Secret().matches(""));
  EXPECT_FALSE(Secret().matches("a"));
  EXPECT_EQ(secret, Secret("sk-0123456789abcdef"));
}

TEST(Secret, prints_as_stars) {
  std::ostringstream out;
  out << "key=" << Secret("hunter2hunter2") << ";";
  EXPECT_EQ(out.str(), "key=***;");
  static_assert(!std::is_convertible_v<Secret, std::string>);
  static_assert(!std::is_convertible_v<Secret, std::string_view>);
}

TEST(Secret, mask_shows_the_end_of_a_long_one_only) {
  EXPECT_EQ(Secret("sk-0123456789ab12").mask(), "sk-…ab12");
  EXPECT_EQ(Secret("0123456789ab12").mask(), "…ab12");
  EXPECT_EQ(Secret("sk-456789ab12").mask(), "…ab12");
  EXPECT_EQ(Secret("0123456789a").mask(), "***");
  EXPECT_EQ(Secret().mask(), "***");
}

TEST(Secret, reveal_gives_the_text) { EXPECT_EQ(Secret("abc").reveal(), "abc"); }

}  // namespace
}  // namespace callgate::secret_test
