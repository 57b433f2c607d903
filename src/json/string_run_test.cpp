#include "json/string_run.h"

#include <gtest/gtest.h>

namespace callgate::json::string_run_test {
namespace {

bool is_special(char c) { return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20; }
bool is_high(char c) { return static_cast<unsigned char>(c) >= 0x80; }

// Every byte at every place of texts that are searched in words of every size.
TEST(StringRun, ends_at_the_first_byte_that_needs_attention) {
  for (std::size_t size = 1; size <= 20; ++size) {
    std::string text(size, 'a');
    for (std::size_t at = 0; at < size; ++at) {
      for (int byte = 0; byte < 256; ++byte) {
        const char c = static_cast<char>(byte);
        text[at] = c;
        const char* const end = text.data() + size;
        const StringRun run = string_run(text.data(), end);
        ASSERT_EQ(run.end, is_special(c) ? text.data() + at : end)
            << size << " " << at << " " << byte;
        ASSERT_EQ(run.ascii, !is_high(c)) << size << " " << at << " " << byte;
        ASSERT_EQ(is_plain_string(text.data(), size), !is_special(c) && !is_high(c))
            << size << " " << at << " " << byte;
      }
      text[at] = 'a';
    }
  }
}

TEST(StringRun, is_empty_in_an_empty_text) {
  const char* const text = "";
  EXPECT_EQ(string_run(text, text).end, text);
  EXPECT_TRUE(string_run(text, text).ascii);
  EXPECT_TRUE(is_plain_string(text, 0));
}

}  // namespace
}  // namespace callgate::json::string_run_test
