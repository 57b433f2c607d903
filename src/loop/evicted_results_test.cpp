#include "loop/evicted_results.h"

#include <gtest/gtest.h>

#include "base/utf8.h"

namespace callgate::loop::evicted_results_test {
namespace {

Options options_with(std::size_t threshold) {
  return {.evict_bytes = threshold, .evict_preview_bytes = threshold / 4};
}

TEST(EvictedResults, leaves_short_results_alone) {
  EvictedResults evicted(options_with(100));
  std::string text(100, 'x');
  EXPECT_FALSE(evicted.evict(text));
  EXPECT_EQ(text.size(), 100u);
  EXPECT_TRUE(evicted.empty());
}

TEST(EvictedResults, can_be_switched_off) {
  EvictedResults evicted(options_with(0));
  std::string text(100'000, 'x');
  EXPECT_FALSE(evicted.evict(text));
}

TEST(EvictedResults, shows_whole_lines_and_whole_characters) {
  EvictedResults evicted(options_with(160));
  std::string text;
  for (int i = 0; i < 50; ++i) text += "line " + std::to_string(i) + " \xC3\xA9\n";
  ASSERT_TRUE(evicted.evict(text));
  EXPECT_TRUE(text.starts_with("line 0 \xC3\xA9\nline 1"));
  EXPECT_NE(text.find("\n["), text.npos);
  EXPECT_TRUE(text.ends_with("]\nline 49 \xC3\xA9\n")) << text;
  std::string umlauts;
  for (int i = 0; i < 200; ++i) umlauts += "\xC3\xA9";
  ASSERT_TRUE(evicted.evict(umlauts));
  EXPECT_TRUE(utf8::is_valid(umlauts));
}

// As a model would: from the offset that the page before names.
TEST(EvictedResults, pages_give_the_whole_text_back) {
  std::string text;
  for (int i = 0; i < 3000; ++i) text += i % 7 == 0 ? "\xE2\x82\xAC" : "ab";
  const std::string whole = text;
  EvictedResults evicted(options_with(500));
  ASSERT_TRUE(evicted.evict(text));
  std::string joined;
  std::size_t pages = 0;
  for (std::string offset = "0"; !offset.empty(); ++pages) {
    const ToolResult page = evicted.read(R"({"id":"r1","offset":)" + offset + "}");
    ASSERT_FALSE(page.is_error) << page.text;
    EXPECT_LE(page.text.size(), 500u) << "a page must not be evicted itself";
    EXPECT_TRUE(utf8::is_valid(page.text));
    const std::size_t line = page.text.find('\n');
    joined += page.text.substr(line + 1);
    const std::string head = page.text.substr(0, line);
    const std::size_t at = head.find("\"offset\":");
    offset = at == head.npos ? "" : head.substr(at + 9, head.find('}') - at - 9);
  }
  EXPECT_EQ(joined, whole);
  EXPECT_GT(pages, 10u);
}

TEST(EvictedResults, a_page_is_as_long_as_was_asked) {
  EvictedResults evicted(options_with(500));
  std::string text(600, 'x');
  ASSERT_TRUE(evicted.evict(text));
  EXPECT_EQ(evicted.read(R"({"id":"r1","offset":10,"limit":7})").text,
            "[bytes 10 to 17 of 600; next: read_result {\"id\":\"r1\",\"offset\":17}]\nxxxxxxx");
  EXPECT_TRUE(evicted.read(R"({"id":"r1","limit":0})").text.starts_with("[bytes 0 to 4 of 600;"))
      << "the longest character has four bytes";
  EXPECT_TRUE(evicted.read(R"({"id":"r1","limit":900})").text.starts_with("[bytes 0 to 300 of"))
      << "a page must not be evicted itself";
  EXPECT_EQ(evicted.read(R"({"id":"r1","offset":599})").text,
            "[bytes 599 to 600 of 600; the end]\nx");
}

TEST(EvictedResults, skips_members_of_another_kind) {
  EvictedResults evicted(options_with(500));
  std::string text(600, 'x');
  ASSERT_TRUE(evicted.evict(text));
  const std::string whole = evicted.read(R"({"id":"r1"})").text;
  EXPECT_EQ(evicted.read(R"({"limit":"7","offset":[1],"x":{},"id":"r1"})").text, whole);
}

TEST(EvictedResults, answers_odd_questions_with_errors) {
  EvictedResults evicted(options_with(100));
  std::string text(200, 'x');
  ASSERT_TRUE(evicted.evict(text));
  for (const std::string_view arguments :
       {R"({})", R"({"id":7})", R"({"id":"r9"})", R"({"id":"r1","offset":200})",
        R"({"id":"r1","offset":-1})", R"({"id":"r1","offset":1e99})", "[]", ""}) {
    EXPECT_TRUE(evicted.read(arguments).is_error) << arguments;
  }
  EXPECT_FALSE(evicted.read(R"({"id":"r1","limit":0})").is_error);
  EXPECT_FALSE(evicted.read(R"({"id":"r1","limit":9999999999})").is_error);
}

TEST(EvictedResults, forgets_the_oldest_first) {
  Options options = options_with(10);
  options.evicted_results = 2;
  options.evicted_bytes = 50;
  EvictedResults evicted(options);
  for (const std::size_t size : {11u, 12u, 13u}) {
    std::string text(size, 'x');
    evicted.evict(text);
  }
  EXPECT_TRUE(evicted.read(R"({"id":"r1"})").is_error);
  EXPECT_FALSE(evicted.read(R"({"id":"r2"})").is_error);
  std::string big(45, 'x');
  evicted.evict(big);
  EXPECT_TRUE(evicted.read(R"({"id":"r3"})").is_error);
  EXPECT_FALSE(evicted.read(R"({"id":"r4"})").is_error);
  std::string huge(51, 'x');
  EXPECT_TRUE(evicted.evict(huge));
  EXPECT_NE(huge.find("too many to be kept"), huge.npos);
  EXPECT_FALSE(evicted.read(R"({"id":"r4"})").is_error);
}

}  // namespace
}  // namespace callgate::loop::evicted_results_test
