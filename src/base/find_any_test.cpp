#include "base/find_any.h"

#include <gtest/gtest.h>

#include <string>

namespace callgate::find_any_test {
namespace {

constexpr std::array kSet = {'\n', '\\', '\x80'};

TEST(FindAny, finds_the_first_from_every_place_in_every_length) {
  for (std::size_t size = 0; size <= 50; ++size) {
    for (std::size_t hit = 0; hit <= size; ++hit) {
      std::string text(size, 'x');
      for (std::size_t i = hit; i < size; i += 3) text[i] = kSet[i % kSet.size()];
      for (std::size_t at = 0; at <= hit; ++at) {
        EXPECT_EQ(find_any(text, at, kSet), hit) << at << " of " << size;
      }
    }
  }
}

TEST(FindAny, passes_over_what_lies_before) {
  const std::string text = "\n\\" + std::string(30, 'x') + "\n";
  EXPECT_EQ(find_any(text, 1, kSet), 1u);
  EXPECT_EQ(find_any(text, 2, kSet), 32u);
  EXPECT_EQ(find_any(text.substr(0, 20), 2, kSet), 20u);
}

}  // namespace
}  // namespace callgate::find_any_test
