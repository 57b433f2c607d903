#include "base/ascii.h"

#include <gtest/gtest.h>

#include <string>

namespace callgate::ascii_test {
namespace {

TEST(IsAscii, sees_every_byte_of_every_length) {
  for (std::size_t size = 0; size <= 40; ++size) {
    std::string text(size, '\x7F');
    EXPECT_TRUE(is_ascii(text)) << size;
    for (std::size_t at = 0; at < size; ++at) {
      text[at] = '\x80';
      EXPECT_FALSE(is_ascii(text)) << at << " of " << size;
      text[at] = '\0';
    }
    EXPECT_TRUE(is_ascii(text)) << size;
  }
}

}  // namespace
}  // namespace callgate::ascii_test
