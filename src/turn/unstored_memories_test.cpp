#include <gtest/gtest.h>

#include "turn/loop_memories.h"

namespace callgate::server::unstored_memories_test {
namespace {

bool add(UnstoredMemories& memories, const std::string& name, const MemoryLimits& limits) {
  store::MemoryStep step;
  step.step = "1";
  step.messages = {std::string(100, 'x')};
  step.prompt = "[]";
  step.pending = "{}";
  return memories.append({"k", name}, step, limits, 10);
}

TEST(UnstoredMemories, keep_as_much_as_they_may_and_no_more) {
  const std::size_t each = 1 + 1 + 2 + 2 + 100 + sizeof(std::string);
  for (const std::size_t spare : {0u, 1u}) {
    UnstoredMemories memories;
    MemoryLimits limits;
    limits.unstored_bytes = 2 * each - spare;
    EXPECT_TRUE(add(memories, "a", limits));
    EXPECT_TRUE(add(memories, "b", limits));
    EXPECT_EQ(memories.load({"k", "a"}, 10).has_value(), spare == 0);
    EXPECT_TRUE(memories.load({"k", "b"}, 10));
  }
}

TEST(UnstoredMemories, keep_the_last_one_whatever_its_size) {
  UnstoredMemories memories;
  MemoryLimits limits;
  limits.unstored_bytes = 1;
  EXPECT_TRUE(add(memories, "a", limits));
  EXPECT_TRUE(memories.load({"k", "a"}, 10));
  EXPECT_TRUE(add(memories, "b", limits));
  EXPECT_FALSE(memories.load({"k", "a"}, 10));
  EXPECT_TRUE(memories.load({"k", "b"}, 10));
}

}  // namespace
}  // namespace callgate::server::unstored_memories_test
