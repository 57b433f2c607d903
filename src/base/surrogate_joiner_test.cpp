#include "base/surrogate_joiner.h"

#include <gtest/gtest.h>

#include <vector>

namespace callgate::surrogate_joiner_test {
namespace {

constexpr std::string_view kHigh = "\xED\xA0\xBD";  // U+D83D
constexpr std::string_view kLow = "\xED\xB8\x80";   // U+DE00

struct Joined {
  std::string text;
  std::size_t replaced = 0;
};

Joined joined(const std::vector<std::string>& pieces) {
  SurrogateJoiner joiner;
  std::string scratch;
  Joined made;
  for (const std::string& piece : pieces) made.text += joiner.push(piece, scratch);
  made.text += joiner.finish();
  made.replaced = joiner.replaced();
  return made;
}

std::string text_of(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text += part;
  return text;
}

TEST(SurrogateJoiner, joins_halves_within_a_piece_and_across_pieces) {
  EXPECT_EQ(joined({text_of({"a", kHigh, kLow, "b"})}).text, "a😀b");
  EXPECT_EQ(joined({text_of({"a", kHigh}), text_of({kLow, "b"})}).text, "a😀b");
  EXPECT_EQ(joined({text_of({"a", kHigh}), "", text_of({kLow, kHigh}), std::string(kLow)}).text,
            "a😀😀");
  EXPECT_EQ(joined({text_of({"a", kHigh}), text_of({kLow})}).replaced, 0u);
}

TEST(SurrogateJoiner, replaces_a_half_that_stays_alone) {
  EXPECT_EQ(joined({text_of({"a", kHigh}), "b"}).text, "a\uFFFDb");
  EXPECT_EQ(joined({text_of({kLow, "a", kHigh})}).text, "\uFFFDa\uFFFD");
  EXPECT_EQ(joined({text_of({kHigh, kHigh, kLow})}).text, "\uFFFD😀");
  EXPECT_EQ(joined({text_of({kLow, "a", kHigh})}).replaced, 2u);
}

TEST(SurrogateJoiner, leaves_text_without_halves_where_it_is) {
  SurrogateJoiner joiner;
  std::string scratch;
  const std::string_view text = "한국어 \xED\x9F\xBF text";
  EXPECT_EQ(joiner.push(text, scratch).data(), text.data());
  EXPECT_TRUE(joiner.finish().empty());
}

TEST(SurrogateJoiner, forgets_a_half_on_request) {
  SurrogateJoiner joiner;
  std::string scratch;
  EXPECT_EQ(joiner.push(text_of({"a", kHigh}), scratch), "a");
  joiner.drop();
  EXPECT_EQ(joiner.push("b", scratch), "b");
  EXPECT_EQ(joiner.replaced(), 0u);
}

}  // namespace
}  // namespace callgate::surrogate_joiner_test
