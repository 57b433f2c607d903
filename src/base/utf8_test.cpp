#include "base/utf8.h"

#include <gtest/gtest.h>

namespace callgate::utf8::utf8_test {
namespace {

TEST(Utf8, counts_the_bytes_of_a_cut_sequence) {
  EXPECT_EQ(incomplete_tail("abc"), 0u);
  EXPECT_EQ(incomplete_tail("a\xC3"), 1u);
  EXPECT_EQ(incomplete_tail("a\xE2\x82"), 2u);
  EXPECT_EQ(incomplete_tail("a\xF0\x9F\x98"), 3u);
  EXPECT_EQ(incomplete_tail("a\xF0\x9F\x98\x80"), 0u);
}

TEST(Utf8, does_not_wait_for_bytes_that_cannot_complete_anything) {
  EXPECT_EQ(incomplete_tail("a\x80"), 0u);
  EXPECT_EQ(incomplete_tail("\x80\x80\x80\x80"), 0u);
  EXPECT_EQ(incomplete_tail("a\xED\xA0"), 0u);  // a surrogate
  EXPECT_EQ(incomplete_tail("a\xC0"), 0u);      // an overlong form
}

TEST(Utf8, finds_the_first_invalid_byte) {
  EXPECT_EQ(find_invalid("plain ascii, longer than one word"), std::string_view::npos);
  EXPECT_EQ(find_invalid("gr\xC3\xBC\xC3\x9F"), std::string_view::npos);
  EXPECT_EQ(find_invalid("12345678\xFF"), 8u);
  EXPECT_EQ(find_invalid("a\xE2\x82"), 1u);
}

TEST(Utf8, replaces_each_maximal_invalid_part_once) {
  const auto sanitized = [](std::string_view text) {
    std::string out;
    append_sanitized(out, text);
    return out;
  };
  EXPECT_EQ(sanitized("a\xE2\x82z"), "a\xEF\xBF\xBDz");
  EXPECT_EQ(sanitized("\xF0\x9F\x98"), "\xEF\xBF\xBD");
  EXPECT_EQ(sanitized("\xC0\xAF"), "\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(sanitized("ok \xF0\x9F\x98\x80"), "ok \xF0\x9F\x98\x80");
}

TEST(Utf8, writes_every_length_of_code_point) {
  std::string out;
  for (char32_t c : {U'a', U'ü', U'€', U'😀'}) append_code_point(out, c);
  EXPECT_EQ(out, "aü€😀");
}

}  // namespace
}  // namespace callgate::utf8::utf8_test
