#include "capture/secret_mask.h"

#include <gtest/gtest.h>

namespace callgate::server::secret_mask_test {
namespace {

std::string masked(const std::vector<std::string>& secrets, std::string text, bool cut = false) {
  SecretMask(secrets).apply(text, cut);
  return text;
}

TEST(SecretMask, finds_a_secret_at_every_place) {
  const std::string secret = "sk-1234567890";
  const std::string stars(secret.size(), '*');
  for (std::size_t before = 0; before < 40; ++before) {
    for (const std::string_view after : {"", "s", "sk-123456789sk-"}) {
      const std::string left(before, 's');
      EXPECT_EQ(masked({secret, "another-secret-that-is-long"}, left + secret + std::string(after)),
                left + stars + std::string(after));
    }
  }
}

TEST(SecretMask, agrees_with_a_plain_search_on_texts_of_few_letters) {
  const std::vector<std::string> secrets = {"abab", "bbbab", "aabbaabb"};
  std::uint64_t state = 1;
  for (int round = 0; round < 300; ++round) {
    std::string text;
    for (int i = 0; i < 60; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      text.push_back((state >> 60) % 2 == 0 ? 'a' : 'b');
    }
    std::string expected = text;
    for (const std::string& secret : secrets) {
      for (std::size_t at = text.find(secret); at != std::string::npos;
           at = text.find(secret, at + 1)) {
        expected.replace(at, secret.size(), secret.size(), '*');
      }
    }
    EXPECT_EQ(masked(secrets, text), expected) << text;
  }
}

TEST(SecretMask, takes_short_secrets_long_ones_and_none) {
  EXPECT_EQ(masked({}, "text"), "text");
  EXPECT_EQ(masked({""}, "text"), "text");
  EXPECT_EQ(masked({"x"}, "text"), "te*t");
  EXPECT_EQ(masked({"xt"}, "text"), "te**");
  const std::string endless(600, 'q');
  EXPECT_EQ(masked({endless}, "a" + endless + "b"), "a" + std::string(600, '*') + "b");
  EXPECT_EQ(masked({"abc"}, ""), "");
}

TEST(SecretMask, leaves_no_part_of_a_secret_where_a_text_was_cut) {
  EXPECT_EQ(masked({"top-secret"}, "a top-se"), "a top-se");
  EXPECT_EQ(masked({"top-secret"}, "a top-se", true), "a ******");
  EXPECT_EQ(masked({"top-secret"}, "a top-secret", true), "a **********");
}

}  // namespace
}  // namespace callgate::server::secret_mask_test
