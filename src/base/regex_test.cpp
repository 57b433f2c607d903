#include "base/regex.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <chrono>
#include <string>

namespace callgate::regex_test {
namespace {

using Verdict = Regex::Verdict;

struct Row {
  std::string_view pattern;
  std::string_view text;
  bool matches;
};

TEST(Regex, matches_all_of_a_text) {
  constexpr Row kRows[] = {
      {"", "", true},
      {"", "a", false},
      {"abc", "abc", true},
      {"abc", "abcd", false},
      {"abc", "ab", false},
      {"a|bc|", "bc", true},
      {"a|bc|", "", true},
      {"a|bc", "b", false},
      {"(a|b)*c", "ababc", true},
      {"(?:a|b)+?c", "c", false},
      {"(?P<word>\\w+)-(?<n>\\d{2,3})", "tea_4-12", true},
      {"\\d{2,3}", "1", false},
      {"\\d{2,3}", "1234", false},
      {"\\d{2,}", "12345", true},
      {"x{0}", "", true},
      {"[a-c-]+", "a-c", true},
      {"[^a-c\\n]+", "xyz", true},
      {"[^a-c\\n]+", "xa", false},
      {"[]a]+", "]a", true},
      {"[\\]\\-\\d]+", "]-7", true},
      {".*", "two\nlines", false},
      {"(.|\\n)*", "two\nlines", true},
      {"^a$", "a", true},
      {"^a$b", "ab", false},
      {"a^b", "ab", false},
      {"(^|,)a(,a)*$", "a,a", true},
      {"\\x41\\u00e9\\x{1F600}", "A\u00e9\U0001F600", true},
      {".", "\u00e9", true},
      {"..", "\u00e9", false},
      {"\\w\\W", "\u00e9\u00e9", true},
      {"(a*)*b", "aaaa", false},
      {"(a?){3}", "aa", true},
      {"\\.\\*\\(\\)\\[\\{\\|", ".*()[{|", true},
      {"\\s\\S", " x", true},
      {"}", "}", true},
  };
  for (const Row& row : kRows) {
    const auto regex = Regex::compile(row.pattern);
    ASSERT_TRUE(regex.has_value()) << row.pattern;
    EXPECT_EQ(regex->matches(row.text), row.matches ? Verdict::matches : Verdict::differs)
        << row.pattern << " on " << row.text;
  }
}

TEST(Regex, has_no_form_for_what_it_does_not_know) {
  for (const std::string_view pattern :
       {"(",      ")",     "a)",      "[",       "[a",          "[]",     "*a",
        "a{",     "a{2",   "a{3,2}",  "a{1001}", "\\",          "\\b",    "\\1",
        "\\pL",   "(?i)a", "(?=a)",   "(?!a)",   "(?<=a)",      "(?<!a)", "[[:alpha:]]",
        "[a&&b]", "[z-a]", "[\\d-z]", "\\x4",    "\\x{110000}", "a*+",    "(?<a"}) {
    EXPECT_FALSE(Regex::compile(pattern).has_value()) << pattern;
  }
}

TEST(Regex, is_bounded_by_its_pattern) {
  EXPECT_FALSE(Regex::compile(std::string(Regex::kMaxPattern + 1, 'a')).has_value());
  EXPECT_FALSE(Regex::compile("((a{1000}){1000}){1000}").has_value());
  EXPECT_FALSE(Regex::compile(std::string(1000, '(')).has_value());
  EXPECT_FALSE(Regex::compile("a" + std::string(1000, '*')).has_value());
  // Nothing, a million million times.
  EXPECT_FALSE(Regex::compile("((((){1000}){1000}){1000}){1000}").has_value());
}

// Every second character from U+0100 on, 10,000 of them.
std::string scattered() {
  std::string set = "[";
  for (unsigned c = 0x100; c < 0x100 + 20'000; c += 2) {
    if (c < 0x800) {
      set += {static_cast<char>(0xC0 | c >> 6), static_cast<char>(0x80 | (c & 0x3F))};
    } else {
      set += {static_cast<char>(0xE0 | c >> 12), static_cast<char>(0x80 | (c >> 6 & 0x3F)),
              static_cast<char>(0x80 | (c & 0x3F))};
    }
  }
  return set + "]";
}

TEST(Regex, keeps_a_class_once_however_often_it_is_repeated) {
  const std::size_t before = ::mallinfo2().uordblks + ::mallinfo2().hblkhd;
  const auto regex = Regex::compile("(" + scattered() + "{1000}){9}");
  ASSERT_TRUE(regex.has_value());
  const std::size_t after = ::mallinfo2().uordblks + ::mallinfo2().hblkhd;
  EXPECT_LT(after, before + (16u << 20));
}

TEST(Regex, finds_a_character_in_a_large_class_quickly) {
  const auto regex = Regex::compile(scattered() + "*");
  ASSERT_TRUE(regex.has_value());
  std::string text;
  for (int i = 0; i < 300'000; ++i) text += "\u4d00";  // near the end of the class
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(regex->matches(text), Verdict::matches);
  EXPECT_EQ(regex->matches(text + "x"), Verdict::differs);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));  // else minutes
}

// A backtracking engine needs 2^30 steps for this.
TEST(Regex, takes_time_in_proportion_to_the_text) {
  std::string pattern;
  for (int i = 0; i < 30; ++i) pattern += "a?";
  pattern += std::string(30, 'a');
  const auto regex = Regex::compile(pattern);
  ASSERT_TRUE(regex.has_value());
  EXPECT_EQ(regex->matches(std::string(30, 'a')), Verdict::matches);
  const auto slow = Regex::compile("(x+x+)+y");
  ASSERT_TRUE(slow.has_value());
  EXPECT_EQ(slow->matches(std::string(10'000, 'x')), Verdict::differs);
}

TEST(Regex, gives_up_on_what_takes_too_long) {
  const auto regex = Regex::compile("(a{0,1000}){0,9}");
  ASSERT_TRUE(regex.has_value());
  EXPECT_EQ(regex->matches(std::string(100'000, 'a')), Verdict::undecided);
}

}  // namespace
}  // namespace callgate::regex_test
