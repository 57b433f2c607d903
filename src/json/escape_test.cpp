#include "json/escape.h"

#include <gtest/gtest.h>

#include "json/reader.h"

namespace callgate::json::escape_test {
namespace {

using namespace std::string_view_literals;

TEST(Escape, escapes_control_characters_in_strings_only) {
  struct Row {
    std::string_view json;
    std::string_view escaped;
    std::size_t found;
  };
  for (const Row& row : {
           Row{"{\"a\":\t\"b\"}\n", "{\"a\":\t\"b\"}\n", 0},
           Row{"{\"a\":\"b\tc\nd\re\"}", R"({"a":"b\tc\nd\re"})", 3},
           Row{"\"\x01\x1f\x0b\b\f\0\""sv, R"("\u0001\u001f\u000b\b\f\u0000")", 6},
           Row{"[\"a\\\"\t\",\t\"\\\\\"\t]", "[\"a\\\"\\t\",\t\"\\\\\"\t]", 1},
           Row{"\"cut \t", R"("cut \t)", 1},
           Row{"\"cut \\", R"("cut \)", 0},
           Row{"", "", 0},
       }) {
    std::string out;
    EXPECT_EQ(append_escaping_controls(out, row.json), row.found) << row.json;
    EXPECT_EQ(out, row.escaped);
  }
}

TEST(Escape, makes_a_text_readable_again) {
  std::string out;
  append_escaping_controls(out, "{\"a\":\"Do not\tdelete\nit.\"}");
  Reader in(out);
  std::string_view key;
  ASSERT_TRUE(in.next_member(key));
  EXPECT_EQ(in.string(), "Do not\tdelete\nit.");
}

TEST(Escape, keeps_halves_of_surrogate_pairs_on_request) {
  std::string replaced, kept;
  append_unescaped(replaced, R"(a\ud83d\n\ude00\ud83d\ude00)");
  append_unescaped_halves(kept, R"(a\ud83d\n\ude00\ud83d\ude00)");
  EXPECT_EQ(replaced, "a\uFFFD\n\uFFFD😀");
  EXPECT_EQ(kept, "a\xED\xA0\xBD\n\xED\xB8\x80😀");
}

}  // namespace
}  // namespace callgate::json::escape_test
