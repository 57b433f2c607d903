#include "dialect/marker_set.h"

#include <gtest/gtest.h>

#include <string>

namespace callgate::dialect::marker_set_test {
namespace {

constexpr std::string_view kTags[] = {"<tool_call>", "<think>", "</think>", "[", "[TOOL]", "aab"};

// The text with each marker in braces, every push cut at `cuts`.
std::string marked(const MarkerSet& set, std::string_view text, std::size_t step) {
  MarkerScan scan(set);
  std::string out;
  const auto take = [&](const MarkerScan::Result& result) {
    out.append(result.held).append(result.before);
    if (result.marker != MarkerSet::kNone) {
      out.append("{").append(set.text(result.marker)).append("}");
    }
  };
  const auto feed = [&](auto& self, std::string_view bytes) -> void {
    while (!bytes.empty()) {
      const MarkerScan::Result result = scan.push(bytes);
      take(result);
      bytes.remove_prefix(result.used);
      self(self, result.replay);
    }
  };
  for (std::size_t at = 0; at < text.size(); at += step) feed(feed, text.substr(at, step));
  while (!scan.idle()) {
    const MarkerScan::Result result = scan.finish();
    take(result);
    feed(feed, result.replay);
  }
  return out;
}

TEST(MarkerSet, finds_the_same_markers_however_the_text_is_cut) {
  const MarkerSet set(kTags);
  const struct {
    std::string_view text;
    std::string_view out;
  } rows[] = {
      {"a < b <tool_call>x", "a < b {<tool_call>}x"},
      {"<<think><", "<{<think>}<"},
      {"<tool_<tool_call>", "<tool_{<tool_call>}"},
      {"aaaab", "aa{aab}"},
      {"[1] [TOOL] [TOO] [", "{[}1] {[TOOL]} {[}TOO] {[}"},
      {"[TOO<think>[[TOOL]", "{[}TOO{<think>}{[}{[TOOL]}"},
      {"</th</think>", "</th{</think>}"},
      {"[TO", "{[}TO"},
      {"", ""},
  };
  for (const auto& row : rows) {
    for (std::size_t step = 1; step <= row.text.size(); ++step) {
      EXPECT_EQ(marked(set, row.text, step), row.out) << row.text << " in steps of " << step;
    }
  }
}

TEST(MarkerSet, finds_a_marker_behind_prose_of_every_length) {
  const MarkerSet set(kTags);
  for (std::size_t before = 0; before < 30; ++before) {
    const std::string prose(before, 'x');
    const std::string text = prose + "<think>" + prose + "[" + prose;
    EXPECT_EQ(marked(set, text, text.size()), prose + "{<think>}" + prose + "{[}" + prose);
  }
}

TEST(MarkerSet, keeps_back_only_what_may_become_a_marker) {
  const MarkerSet set(kTags);
  MarkerScan scan(set);
  const MarkerScan::Result result = scan.push("text <tool");
  EXPECT_EQ(result.before, "text ");
  EXPECT_EQ(scan.live(), "<tool");
  const MarkerScan::Result next = scan.push("box");
  EXPECT_EQ(next.held, "<tool");
  EXPECT_EQ(next.before, "box");
  EXPECT_TRUE(scan.idle());
}

TEST(MarkerSet, finds_a_marker_inside_a_longer_one_that_failed) {
  constexpr std::string_view kNested[] = {"abcd", "bc"};
  const MarkerSet set(kNested);
  for (std::size_t step = 1; step <= 4; ++step) {
    EXPECT_EQ(marked(set, "abcx", step), "a{bc}x");
    EXPECT_EQ(marked(set, "abcd", step), "{abcd}");
  }
}

}  // namespace
}  // namespace callgate::dialect::marker_set_test
