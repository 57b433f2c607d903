#include "loop/compaction.h"

#include <gtest/gtest.h>

#include "chat/content.h"
#include "chat/token_estimate.h"

namespace callgate::loop::compaction_test {
namespace {

void add_round(Request& request, const std::string& id, std::size_t result_bytes) {
  Message& asked = request.messages.emplace_back();
  asked.role = Role::assistant;
  asked.content = text_content("I look at " + id + ".");
  asked.calls.push_back(
      {.id = id, .name = "find", .arguments = R"({"id":")" + id + "\"}", .extra = {}});
  Message& result = request.messages.emplace_back();
  result.role = Role::tool;
  result.tool_call_id = id;
  result.content = text_content(std::string(result_bytes, 'x'));
}

Request conversation(int rounds, std::size_t result_bytes) {
  Request request;
  request.messages.emplace_back().content = text_content("Where are they?");
  for (int i = 0; i < rounds; ++i) add_round(request, "c" + std::to_string(i), result_bytes);
  return request;
}

TEST(Compaction, leaves_a_conversation_alone_that_fits) {
  Request request = conversation(3, 1000);
  EXPECT_FALSE(compact(request, 10'000));
  EXPECT_EQ(request.messages.size(), 7u);
}

TEST(Compaction, leaves_out_the_oldest_results_first_and_never_the_last) {
  Request request = conversation(3, 40'000);
  ASSERT_TRUE(compact(request, estimate_tokens(request) - 100));
  ASSERT_EQ(request.messages.size(), 7u);
  EXPECT_EQ(text_of(request.messages[2].content).substr(0, 34),
            "[40002 bytes of this result were l");
  EXPECT_EQ(text_of(request.messages[4].content).size(), 40'000u);
  ASSERT_TRUE(compact(request, 10));
  EXPECT_EQ(text_of(request.messages.back().content).size(), 40'000u);
}

TEST(Compaction, folds_rounds_when_results_are_not_enough) {
  Request request = conversation(30, 300);
  ASSERT_TRUE(compact(request, 100));
  std::size_t calls = 0;
  for (std::size_t i = 0; i < request.messages.size(); ++i) {
    calls += request.messages[i].calls.size();
    if (request.messages[i].role == Role::tool) {
      EXPECT_EQ(request.messages[i].tool_call_id, "c29");
    }
  }
  EXPECT_EQ(calls, 1u) << "only the last round has calls left, and its result follows it";
  EXPECT_EQ(text_of(request.messages[1].content),
            "I look at c0.\n[Earlier calls, left out with their results to save space: find "
            "{\"id\":\"c0\"}]");
}

TEST(Compaction, knows_how_servers_refuse_what_is_too_long) {
  for (const char* words :
       {"This model's maximum context length is 8192 tokens", "prompt is too long: 9 > 8",
        "the request exceeds the available context size"}) {
    EXPECT_TRUE(is_too_long_for_model({.code = ErrorCode::invalid_request, .message = words}))
        << words;
  }
  EXPECT_FALSE(
      is_too_long_for_model({.code = ErrorCode::invalid_request, .message = "no such field"}));
  EXPECT_FALSE(
      is_too_long_for_model({.code = ErrorCode::unavailable, .message = "context length"}));
}

}  // namespace
}  // namespace callgate::loop::compaction_test
