#include "upstream/narration.h"

#include <gtest/gtest.h>

namespace callgate::upstream::narration_test {
namespace {

// A line is a piece; `=` before it: the whole message; `!`: starts over; `.`: settled.
std::string told(const std::vector<std::string>& lines) {
  Narration narration;
  std::string out;
  const auto emit = [&](std::string_view text) { out.append(text); };
  for (const std::string& line : lines) {
    if (line == "!") {
      EXPECT_TRUE(narration.restart());
    } else if (line == ".") {
      narration.settle();
    } else if (line.starts_with("=")) {
      narration.push_whole(line.substr(1), emit);
    } else {
      narration.push(line, emit);
    }
  }
  return out;
}

TEST(Narration, says_each_thing_once) {
  struct Row {
    std::vector<std::string> lines;
    std::string out;
  };
  const Row rows[] = {
      {{"Let ", "me", "=Let me", "."}, "Let me"},
      {{"=Let me", "."}, "Let me"},
      {{"Let", "=Let me"}, "Let me"},
      {{"Let", "=Other"}, "Let"},
      {{"a", "=a", "b", "=b"}, "a\n\nb"},
      {{"a", ".", "b"}, "a\n\nb"},
      {{"Let ", "!", "Let ", "me", "=Let me"}, "Let me"},
      {{"Let ", "!", "Le", "t me"}, "Let me"},
      {{"Let ", "me", "!", "Let", "!", "Let me", " go"}, "Let me go"},
      {{"a", "=a", "b", "!", "a", "=a", "b", "c", "=bc"}, "a\n\nbc"},
      {{"a", "=a", "!", "a", "=a", "b"}, "a\n\nb"},
      {{"Let me", "!", "Let us", "=Let us"}, "Let me\n\nLet us"},
      {{"Let me", "!", "=Let me"}, "Let me"},
      {{"x", "=x", ".", "Let", "!", "Let me"}, "x\n\nLet me"},
      {{"x", "=x", ".", "!", "y"}, "x\n\ny"},
      {{"Let me", "!", "=Let"}, "Let me"},
  };
  for (const Row& row : rows) EXPECT_EQ(told(row.lines), row.out);
}

TEST(Narration, says_so_when_it_cannot_compare_a_replay) {
  Narration narration;
  const std::string piece(1u << 20, 'x');
  const auto ignore = [](std::string_view) {};
  for (int i = 0; i < 5; ++i) narration.push(piece, ignore);
  EXPECT_FALSE(narration.restart());
}

}  // namespace
}  // namespace callgate::upstream::narration_test
