#include "base/keyed_hash.h"

#include <gtest/gtest.h>

#include <string>

namespace callgate::keyed_hash_test {
namespace {

// The vectors that come with the paper: key 00 01 .. 0f, input 00 01 .. up to the length.
TEST(KeyedHash, gives_the_published_values) {
  const HashKey key{0x0706050403020100, 0x0f0e0d0c0b0a0908};
  std::string input;
  EXPECT_EQ(keyed_hash(key, input), 0x726fdb47dd0e0e31u);
  for (char c = 0; c < 8; ++c) input.push_back(c);
  EXPECT_EQ(keyed_hash(key, input), 0x93f5f5799a932462u);
  for (char c = 8; c < 15; ++c) input.push_back(c);
  EXPECT_EQ(keyed_hash(key, input), 0xa129ca6149be45e5u);
}

}  // namespace
}  // namespace callgate::keyed_hash_test
