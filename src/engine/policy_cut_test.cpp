// Cuts by stop_after_tools, as the owner of a pipeline sees them.
#include <gtest/gtest.h>

#include "callgate/pipeline.h"

namespace callgate::policy_cut_test {
namespace {

std::string delta(int choice, std::string_view members) {
  return "data: {\"choices\":[{\"index\":" + std::to_string(choice) + ",\"delta\":{" +
         std::string(members) + "}}]}\n\n";
}
std::string call(int index, std::string_view name, std::string_view arguments, int choice = 0) {
  return delta(choice, "\"tool_calls\":[{\"index\":" + std::to_string(index) + ",\"id\":\"c" +
                           std::to_string(index) + "\",\"function\":{\"name\":\"" +
                           std::string(name) + "\",\"arguments\":\"" + std::string(arguments) +
                           "\"}}]");
}
// Arguments that can only be whole; {} may be a placeholder for others that follow.
constexpr std::string_view kQuery = R"({\"q\":1})";
const std::string kUsage = "data: {\"choices\":[],\"usage\":{\"total_tokens\":9}}\n\n";

bool contains(std::string_view whole, std::string_view part) {
  return whole.find(part) != std::string_view::npos;
}

class PolicyCut : public testing::Test {
 protected:
  Pipeline make(StopAfterTools stop, bool dedupe = false) {
    return *Pipeline::make(request_,
                           {.policy = {.stop_after_tools = stop, .dedupe_calls = dedupe}});
  }

  Request request_{.model = "m", .stream = true, .include_usage = true};
  std::string out_;
};

TEST_F(PolicyCut, ends_the_answer_in_order_at_the_first_call) {
  Pipeline pipeline = make(StopAfterTools::first);
  pipeline.push(kUsage + call(0, "f", kQuery) + call(1, "g", "{}") + kUsage, out_);
  EXPECT_TRUE(pipeline.finished());
  EXPECT_TRUE(pipeline.cut_short());
  EXPECT_FALSE(pipeline.error().has_value());
  EXPECT_TRUE(contains(out_, "\"finish_reason\":\"tool_calls\""));
  EXPECT_TRUE(contains(out_, "\"total_tokens\":9")) << "usage seen so far is told";
  EXPECT_TRUE(out_.ends_with("data: [DONE]\n\n"));
  EXPECT_EQ(pipeline.summary().calls, 1u);
  EXPECT_EQ(pipeline.summary().late_frames, 2u);
  EXPECT_TRUE(pipeline.summary().cut);

  const std::string before = out_;
  pipeline.push(kUsage, out_);
  pipeline.finish(out_);
  pipeline.fail({.code = ErrorCode::upstream_failed, .message = "interrupted"}, out_);
  EXPECT_EQ(out_, before);
  EXPECT_EQ(pipeline.summary().late_frames, 3u);
  EXPECT_FALSE(pipeline.error().has_value());
}

TEST_F(PolicyCut, waits_for_the_grace_period_of_a_burst) {
  Pipeline pipeline = make(StopAfterTools::burst);
  EXPECT_EQ(pipeline.grace(), std::nullopt);
  pipeline.cut(out_);
  EXPECT_EQ(out_, "") << "there is nothing to cut yet";
  pipeline.push(call(0, "f", kQuery), out_);
  EXPECT_EQ(pipeline.grace(), 1u);
  pipeline.push(call(1, "g", "{\\\"a\\\":"), out_);
  EXPECT_EQ(pipeline.grace(), std::nullopt);
  pipeline.push(call(1, "g", "1}"), out_);
  EXPECT_EQ(pipeline.grace(), 2u);
  EXPECT_FALSE(pipeline.finished());
  pipeline.cut(out_);
  EXPECT_TRUE(pipeline.finished());
  EXPECT_TRUE(pipeline.cut_short());
  EXPECT_EQ(pipeline.grace(), std::nullopt);
  EXPECT_EQ(pipeline.summary().calls, 2u);
  EXPECT_EQ(pipeline.summary().outcomes[0], 2u);
  EXPECT_TRUE(out_.ends_with("data: [DONE]\n\n"));
}

TEST_F(PolicyCut, waits_for_a_call_that_is_held_back_for_comparison) {
  Pipeline pipeline = make(StopAfterTools::burst, true);
  pipeline.push(call(0, "f", "{}") + call(1, "f", "{\\\"a\\\":"), out_);
  EXPECT_EQ(pipeline.grace(), std::nullopt);
}

TEST_F(PolicyCut, reads_a_whole_answer_to_its_end_for_its_usage) {
  request_.stream = false;
  Pipeline pipeline = make(StopAfterTools::first);
  pipeline.push(call(0, "f", "{}") + call(1, "g", "{}") + kUsage, out_);
  EXPECT_FALSE(pipeline.finished());
  pipeline.push("data: [DONE]\n\n", out_);
  EXPECT_TRUE(pipeline.finished());
  EXPECT_FALSE(pipeline.cut_short());
  EXPECT_TRUE(pipeline.summary().cut);
  EXPECT_EQ(pipeline.summary().calls, 1u);
  EXPECT_TRUE(contains(out_, "\"total_tokens\":9"));
}

TEST_F(PolicyCut, waits_until_every_choice_is_cut) {
  request_.choices = 2;
  Pipeline pipeline = make(StopAfterTools::first);
  pipeline.push(call(0, "f", kQuery, 0) + delta(1, "\"content\":\"hm\""), out_);
  EXPECT_FALSE(pipeline.finished());
  pipeline.push(call(0, "f", kQuery, 1), out_);
  EXPECT_TRUE(pipeline.finished());
  EXPECT_TRUE(pipeline.cut_short());
}

TEST_F(PolicyCut, of_one_choice_leaves_the_other_its_own_end) {
  request_.choices = 2;
  Pipeline pipeline = make(StopAfterTools::burst);
  pipeline.push(call(0, "f", "{}", 0) + delta(1, "\"content\":\"hm\""), out_);
  EXPECT_EQ(pipeline.grace(), std::nullopt);
  pipeline.push(
      "data: {\"choices\":[{\"index\":1,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
      "data: [DONE]\n\n",
      out_);
  EXPECT_TRUE(pipeline.finished());
  EXPECT_FALSE(pipeline.cut_short());
}

}  // namespace
}  // namespace callgate::policy_cut_test
