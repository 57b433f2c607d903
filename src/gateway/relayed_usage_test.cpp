#include "gateway/relayed_usage.h"

#include <gtest/gtest.h>

namespace callgate::server::relayed_usage_test {
namespace {

std::optional<Usage> usage_of(std::string_view type, std::string_view body, std::size_t step) {
  RelayedUsage found(type);
  for (; !body.empty(); body.remove_prefix(std::min(step, body.size()))) {
    found.push(body.substr(0, step));
  }
  return found.usage();
}

struct RelayedCase {
  std::string_view type;
  std::string_view body;
  std::int64_t prompt;  // -1: nothing is found
  std::int64_t completion;
};

constexpr std::string_view kJsonType = "application/json; charset=utf-8";
constexpr RelayedCase kRelayed[] = {
    {kJsonType,
     R"({"data":[{"usage":{"prompt_tokens":9}}],"usage":{"prompt_tokens":8,"total_tokens":8}})", 8,
     0},
    {kJsonType,
     R"( {"usage" : {"input_tokens":12,"input_tokens_details":{"a":[1]},"output_tokens":4,"total_tokens":16},"data":[]})",
     12, 4},
    {kJsonType, R"({"results":[],"usage":{"total_tokens":7}})", 7, 0},
    {kJsonType,
     R"({"text":"\"usage\":{\"prompt_tokens\":1}","usage":{"type":"duration","seconds":3}})", -1,
     0},
    {kJsonType, R"({"text":"a \\","usage":{"prompt_tokens":2}})", 2, 0},
    {kJsonType, R"({"data":{"usage":{"prompt_tokens":1}}})", -1, 0},
    {kJsonType, R"([{"usage":{"prompt_tokens":1}}])", -1, 0},
    {kJsonType, R"({"usage":null,"a":{"prompt_tokens":1}})", -1, 0},
    {kJsonType, R"({"usage":{"prompt_tokens":1)", -1, 0},
    {kJsonType, R"({"usage":{"prompt_tokens":-5,"completion_tokens":3}})", 0, 3},
    {"audio/mpeg", R"({"usage":{"prompt_tokens":1}})", -1, 0},
    {"text/event-stream",
     "event: a \"quoted\nid: {\ndata: {\"type\":\"x\"}\r\n\r\ndata: "
     "{\"b\":\"}\",\"usage\":{\"input_tokens\":3,"
     "\"output_tokens\":5}}\n\ndata: [DONE]\n\n",
     3, 5},
};

TEST(RelayedUsage, is_found_whatever_stands_around_it_at_every_cut) {
  for (const RelayedCase& relayed : kRelayed) {
    for (const std::size_t step : {std::size_t{1}, std::size_t{3}, relayed.body.size()}) {
      const auto usage = usage_of(relayed.type, relayed.body, step);
      ASSERT_EQ(usage.has_value(), relayed.prompt >= 0) << relayed.body << " by " << step;
      if (!usage) continue;
      EXPECT_EQ(usage->prompt_tokens, relayed.prompt) << relayed.body;
      EXPECT_EQ(usage->completion_tokens, relayed.completion) << relayed.body;
      EXPECT_EQ(usage->total_tokens, relayed.prompt + relayed.completion);
    }
  }
}

TEST(RelayedUsage, keeps_little_of_a_usage_that_never_ends) {
  const std::string body = "{\"usage\":{\"a\":\"" + std::string(100'000, 'x') + "\"},\"b\":1}";
  EXPECT_FALSE(usage_of(kJsonType, body, 1000));
}

}  // namespace
}  // namespace callgate::server::relayed_usage_test
