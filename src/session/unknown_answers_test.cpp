#include <gtest/gtest.h>

#include "session/conversations.h"

namespace callgate::server::unknown_answers_test {
namespace {

// Another gateway may have forgotten a chat that this one never knew.
TEST(MemoryConversations, ignores_news_of_answers_that_it_does_not_know) {
  MemoryConversations all;
  const KeptAnswer unknown{.chat = "c9", .parent = "r9", .session = "s9"};
  all.mark_continued(unknown);
  all.drop(unknown);
  all.forget("c9");
  all.forget_session("s9");
  EXPECT_EQ(all.size(), 0u);
  EXPECT_EQ(all.find_name("s9"), std::nullopt);
}

}  // namespace
}  // namespace callgate::server::unknown_answers_test
