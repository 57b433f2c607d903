#include "base/byte_class.h"

#include <gtest/gtest.h>

#include <string>

namespace callgate::byte_class_test {
namespace {

TEST(ByteClass, finds_every_byte_among_every_other) {
  for (int member = 0; member < 256; ++member) {
    ByteClass set;
    set.add(static_cast<char>(member));
    for (int other = 0; other < 256; ++other) {
      std::string text(100, static_cast<char>(other));
      text[70] = static_cast<char>(member);
      ASSERT_EQ(set.find(text, 1), other == member ? 1u : 70u) << member << " among " << other;
      ASSERT_EQ(set.find(text, 71), other == member ? 71u : 100u) << member << " among " << other;
    }
  }
}

TEST(ByteClass, finds_at_every_place) {
  ByteClass set;
  for (const char c : {'<', '\xEF', '{'}) set.add(c);
  for (std::size_t size = 0; size < 100; ++size) {
    const std::string plain(size, 'x');
    EXPECT_EQ(set.find(plain, 0), size);
    for (std::size_t at = 0; at < size; ++at) {
      std::string text = plain;
      text[at] = at % 2 == 0 ? '<' : '\xEF';
      EXPECT_EQ(set.find(text, 0), at) << size;
      EXPECT_EQ(set.find(text, at), at) << size;
      EXPECT_EQ(set.find(text, at + 1), size) << size;
    }
  }
}

TEST(ByteClass, finds_nothing_in_a_set_of_none) {
  const ByteClass none;
  EXPECT_EQ(none.find(std::string(80, '<'), 0), 80u);
  EXPECT_EQ(none.find("", 0), 0u);
}

}  // namespace
}  // namespace callgate::byte_class_test
