// What happens when requests want more memory than there is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gateway/gateway_testing.h"

namespace callgate::server::memory_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr std::uint64_t kMemoryMiB = 1 << 20;

std::string memory_question(bool stream, std::size_t size = 2) {
  return std::string(R"({"model":"m","stream":)") + (stream ? "true" : "false") +
         R"(,"messages":[{"role":"user","content":")" + std::string(size, 'x') + "\"}]}";
}

std::string text_frame(std::size_t size) {
  return R"(data: {"choices":[{"index":0,"delta":{"content":")" + std::string(size, 'y') +
         "\"}}]}\n\n";
}

class MemoryTest : public testing::Test {
 protected:
  std::string config(std::string_view limits = {}, std::string_view more = {}) const {
    return "store.url = \"sqlite::memory:\"\n" + std::string(limits) +
           "[[upstream]]\nname = \"a\"\nurl = \"" + model_.url() +
           "\"\n[[model]]\nname = \"m\"\nupstream = [\"a\"]\nretries = 0\n" + std::string(more);
  }
  // The model says `count` pieces of `size` bytes.
  void will_say(int count, std::size_t size) {
    FakeServer::Reply reply;
    for (int i = 0; i < count; ++i) reply.pieces.push_back(text_frame(size));
    reply.pieces.emplace_back(
        "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
        "data: [DONE]\n\n");
    model_.then(std::move(reply));
  }

  net::Loop loop_;
  FakeServer model_{loop_};
};

TEST_F(MemoryTest, a_large_body_is_refused_and_a_small_one_served) {
  TestGateway gateway(loop_, config());
  gateway.world().memory.set_limit(4 * kMemoryMiB);
  const TestAnswer large = gateway.ask(memory_question(true, 5'000'000));
  EXPECT_EQ(large.status, 503);
  EXPECT_EQ(large.header("retry-after"), "1");
  EXPECT_THAT(large.body, HasSubstr("memory"));
  EXPECT_TRUE(model_.asked().empty());
  EXPECT_EQ(gateway.world().memory.refused(), 1u);
  will_say(1, 5);
  EXPECT_EQ(gateway.ask(memory_question(true)).status, 200);
  EXPECT_EQ(gateway.world().memory.used(), 0u);
}

// A body that fits is refused all the same if its request would not.
TEST_F(MemoryTest, counts_what_a_body_becomes) {
  TestGateway gateway(loop_, config());
  gateway.world().memory.set_limit(4 * kMemoryMiB);
  EXPECT_EQ(gateway.ask(memory_question(true, 2'500'000)).status, 503);
  EXPECT_TRUE(model_.asked().empty());
  EXPECT_EQ(gateway.world().memory.used(), 0u);
}

TEST_F(MemoryTest, the_copy_for_the_log_goes_before_the_answer) {
  TestGateway gateway(loop_, config());
  gateway.world().memory.set_limit(512 << 10);
  will_say(40, 16'000);
  const TestAnswer answer = gateway.ask(memory_question(true));
  EXPECT_EQ(answer.status, 200);
  EXPECT_GT(answer.body.size(), 640'000u);
  EXPECT_THAT(answer.body, AllOf(HasSubstr("[DONE]"), Not(HasSubstr("error"))));
  EXPECT_GT(gateway.world().memory.shed(), 0u);
  EXPECT_EQ(gateway.world().memory.refused(), 0u);
  const store::RequestRow& row = gateway.log().rows().back();
  EXPECT_EQ(row.outcome.state, store::RequestState::completed);
  EXPECT_EQ(row.outcome.response, "");
  EXPECT_EQ(row.outcome.events, "");
  EXPECT_EQ(gateway.world().memory.used(), 0u);
}

TEST_F(MemoryTest, a_whole_answer_is_given_up_with_503_and_not_tried_again) {
  TestGateway gateway(loop_, config());
  gateway.world().memory.set_limit(512 << 10);
  will_say(40, 16'000);
  will_say(1, 5);
  const TestAnswer answer = gateway.ask(memory_question(false));
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.header("retry-after"), "1");
  EXPECT_EQ(model_.asked().size(), 1u);
  EXPECT_EQ(gateway.world().memory.used(), 0u);
}

TEST_F(MemoryTest, a_stream_that_has_begun_gets_an_error_frame) {
  TestGateway gateway(loop_, config());
  gateway.world().memory.set_limit(512 << 10);
  // Frames that are not ended are held.
  model_.then({.pieces = {text_frame(5), "data: {\"choices\":[" + std::string(900'000, ' '),
                          std::string(900'000, ' ')}});
  const TestAnswer answer = gateway.ask(memory_question(true));
  EXPECT_EQ(answer.status, 200);
  EXPECT_THAT(answer.body, AllOf(HasSubstr("yyyyy"), HasSubstr("\"error\""), HasSubstr("memory")));
  EXPECT_EQ(gateway.world().memory.used(), 0u);
}

TEST_F(MemoryTest, a_whole_answer_collected_from_frames_keeps_to_its_limit) {
  TestGateway gateway(loop_, config("limits.max_upstream_body = \"64KiB\"\n"));
  will_say(20, 16'000);
  const TestAnswer whole = gateway.ask(memory_question(false));
  EXPECT_EQ(whole.status, 502);
  EXPECT_THAT(whole.body, HasSubstr("over the limit"));
  will_say(20, 16'000);
  const TestAnswer streamed = gateway.ask(memory_question(true));
  EXPECT_EQ(streamed.status, 200);
  EXPECT_THAT(streamed.body, AllOf(HasSubstr("[DONE]"), Not(HasSubstr("\"error\""))));
}

TEST_F(MemoryTest, a_round_of_a_loop_keeps_to_its_limit) {
  TestGateway gateway(loop_, config("limits.max_upstream_body = \"64KiB\"\n",
                                    "loop = true\n[[tool]]\nname = \"clock\"\nkind = \"builtin\"\n"
                                    "builtin = \"time\"\n"));
  will_say(20, 16'000);
  const TestAnswer answer = gateway.ask(memory_question(true));
  EXPECT_THAT(answer.body, HasSubstr("over the limit"));
  EXPECT_EQ(model_.asked().size(), 1u);
  EXPECT_EQ(gateway.world().memory.used(), 0u);
}

TEST_F(MemoryTest, a_loop_that_finds_no_memory_ends) {
  TestGateway gateway(loop_, config("",
                                    "loop = true\n[[tool]]\nname = \"clock\"\nkind = "
                                    "\"builtin\"\nbuiltin = \"time\"\n"));
  gateway.world().memory.set_limit(512 << 10);
  will_say(40, 16'000);
  const TestAnswer answer = gateway.ask(memory_question(true));
  EXPECT_THAT(answer.body, HasSubstr("memory"));
  EXPECT_EQ(model_.asked().size(), 1u);
  EXPECT_EQ(gateway.world().memory.used(), 0u);
}

}  // namespace
}  // namespace callgate::server::memory_test
