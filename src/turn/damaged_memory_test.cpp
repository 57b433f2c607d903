// Conversations in the store that cannot be read any more.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "net/net_testing.h"
#include "turn/loop_memory.h"

namespace callgate::server::damaged_memory_test {
namespace {

using testing::HasSubstr;

class DamagedMemoryTest : public testing::Test {
 protected:
  Error open(store::MemoryStep step) {
    Error error;
    const auto run = [&]() -> net::Task<> {
      store::MemoryName name{"k", "c"};
      auto added = co_await all_.append(loop_, name, std::move(step));
      EXPECT_TRUE(added && *added);
      LoopMemory memory(all_, claims_, loop_, name, loop::Memory::inside, 1);
      Request request;
      request.messages.push_back({.role = Role::user, .content = {"\"Go\""}});
      loop::Options options;
      const auto opened = co_await memory.open(request, options);
      EXPECT_FALSE(opened);
      if (!opened) error = opened.error();
      memory.release();
      (void)co_await all_.forget(loop_, name);
    };
    net::run_to_end(loop_, run());
    return error;
  }

  net::Loop loop_;
  LoopMemories all_;
  ConversationClaims claims_;
};

TEST_F(DamagedMemoryTest, is_our_own_fault_and_names_the_conversation) {
  const auto damage = [](auto member, std::string text) {
    store::MemoryStep step;
    step.step = "1";
    step.messages = {R"({"role":"user","content":"Hi"})"};
    step.*member = std::move(text);
    return step;
  };
  store::MemoryStep message = damage(&store::MemoryStep::prompt, "");
  message.messages = {R"({"role":)"};
  const store::MemoryStep steps[] = {
      message, damage(&store::MemoryStep::prompt, "[{"),
      damage(&store::MemoryStep::pending, "{\"state\":{\"legs\":7}}"),
      damage(&store::MemoryStep::pending, "{\"asked\":[{}"),
      damage(&store::MemoryStep::pending, "[]")};
  for (const store::MemoryStep& step : steps) {
    const Error error = open(step);
    EXPECT_EQ(error.code, ErrorCode::internal) << step.prompt << step.pending;
    EXPECT_THAT(error.message, testing::StartsWith("conversation \"c\" cannot be read: "));
  }
  EXPECT_EQ(claims_.held(), 0u);
}

}  // namespace
}  // namespace callgate::server::damaged_memory_test
