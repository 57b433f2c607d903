#include "room/thoughts.h"

#include <gtest/gtest.h>

namespace callgate::server::thoughts_test {
namespace {

TEST(Thoughts, go_out_together_after_a_while) {
  Thoughts thoughts;
  EXPECT_TRUE(thoughts.empty());
  EXPECT_EQ(thoughts.left(5), std::nullopt);
  EXPECT_FALSE(thoughts.is_due(500));
  thoughts.add("one ", 1'000);
  EXPECT_FALSE(thoughts.empty());
  EXPECT_EQ(thoughts.left(1'000), net::Millis(100));
  thoughts.add("two", 1'060);
  EXPECT_EQ(thoughts.left(1'060), net::Millis(40)) << "the first one waits longest";
  EXPECT_FALSE(thoughts.is_due(1'099));
  EXPECT_TRUE(thoughts.is_due(1'100));
  EXPECT_EQ(thoughts.left(1'500), net::Millis(0));
  EXPECT_EQ(thoughts.take(), "one two");
  EXPECT_TRUE(thoughts.empty());
  EXPECT_FALSE(thoughts.is_due(2'000));
  thoughts.add("three", 1'500);
  EXPECT_EQ(thoughts.left(1'500), net::Millis(100)) << "a new while";
}

TEST(Thoughts, go_out_when_they_are_many) {
  Thoughts thoughts;
  thoughts.add(std::string(1'023, 'x'), 0);
  EXPECT_FALSE(thoughts.is_due(0));
  thoughts.add("x", 0);
  EXPECT_TRUE(thoughts.is_due(0));
  EXPECT_EQ(thoughts.take().size(), 1'024u);
}

}  // namespace
}  // namespace callgate::server::thoughts_test
