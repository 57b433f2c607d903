// The order of the stages: one test for each pair that would give something else the other way round.
#include <gtest/gtest.h>

#include "callgate/pipeline.h"
#include "engine/fake_dialect_testing.h"

namespace callgate::policy_order_test {
namespace {

std::string delta(std::string_view members) {
  return "data: {\"choices\":[{\"index\":0,\"delta\":{" + std::string(members) + "}}]}\n\n";
}
std::string text(std::string_view words) {
  return delta("\"content\":\"" + std::string(words) + "\"");
}
std::string reasoning(std::string_view words) {
  return delta("\"reasoning_content\":\"" + std::string(words) + "\"");
}
std::string call(int index, std::string_view name, std::string_view arguments,
                 std::string_view id = "") {
  return delta("\"tool_calls\":[{\"index\":" + std::to_string(index) + ",\"id\":\"" +
               std::string(id) + "\",\"function\":{\"name\":\"" + std::string(name) +
               "\",\"arguments\":\"" + std::string(arguments) + "\"}}]");
}
const std::string kEnd =
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
    "data: [DONE]\n\n";

bool contains(std::string_view whole, std::string_view part) {
  return whole.find(part) != std::string_view::npos;
}

struct Answer {
  std::string bytes;
  TurnSummary summary;

  bool has(std::string_view part) const { return contains(bytes, part); }
};

class PolicyOrder : public testing::Test {
 protected:
  Answer answer(const std::string& upstream) {
    Result<Pipeline> pipeline = Pipeline::make(request_, {.dialect = dialect_, .policy = policy_});
    Answer result;
    pipeline->push(upstream, result.bytes);
    pipeline->cut(result.bytes);
    EXPECT_TRUE(pipeline->finished());
    result.summary = pipeline->summary();
    return result;
  }

  Request request_{.model = "m", .tools = {{.name = "f"}, {.name = "g"}}, .stream = true};
  const Dialect* dialect_ = nullptr;
  PolicyOptions policy_;
};

TEST_F(PolicyOrder, a_dialects_calls_come_before_the_limit) {
  dialect_ = &engine::kFakeDialect;
  policy_.tool_call_max = 1;
  const Answer got = answer(text("[f:{}][g:{}]") + kEnd);
  EXPECT_EQ(got.summary.calls, 1u);
  EXPECT_EQ(got.summary.withheld_calls, 1u);
}

TEST_F(PolicyOrder, undeclared_calls_take_no_place_of_the_limit) {
  policy_.undeclared_tools = UndeclaredTools::drop_with_note;
  policy_.tool_call_max = 1;
  const Answer got = answer(call(0, "rm", "{}") + call(1, "f", "{}") + kEnd);
  EXPECT_TRUE(got.has("\"name\":\"f\""));
}

TEST_F(PolicyOrder, undeclared_calls_cut_nothing) {
  policy_.undeclared_tools = UndeclaredTools::text;
  policy_.stop_after_tools = StopAfterTools::first;
  const Answer got = answer(call(0, "rm", "{}") + call(1, "f", "{}") + text("late") + kEnd);
  EXPECT_TRUE(got.has("\"name\":\"f\""));
  EXPECT_FALSE(got.has("late"));
}

TEST_F(PolicyOrder, white_space_before_an_undeclared_call_stays_before_its_text) {
  policy_.undeclared_tools = UndeclaredTools::text;
  EXPECT_TRUE(answer(text("a\\n") + call(0, "rm", "{}") + kEnd).has("\"content\":\"\\n{"));
}

TEST_F(PolicyOrder, white_space_before_a_withheld_call_goes_with_it) {
  dialect_ = &engine::kFakeDialect;
  policy_.tool_call_max = 1;
  const Answer limited = answer(text("[f:{}]\\n[g:{}]") + kEnd);
  EXPECT_EQ(limited.summary.text_bytes, 0u);
  policy_.tool_call_max = 0;
  policy_.dedupe_calls = true;
  const Answer deduped = answer(text("[f:{}]\\n[f:{}]") + kEnd);
  EXPECT_EQ(deduped.summary.text_bytes, 0u);
}

TEST_F(PolicyOrder, repeated_calls_take_no_place_of_the_limit) {
  policy_.dedupe_calls = true;
  policy_.tool_call_max = 2;
  const Answer got = answer(call(0, "f", "{}") + call(1, "f", "{}") + call(2, "g", "{}") + kEnd);
  EXPECT_TRUE(got.has("\"name\":\"g\""));
  EXPECT_EQ(got.summary.withheld_calls, 1u);
}

TEST_F(PolicyOrder, only_calls_that_pass_are_mended) {
  policy_.invalid_arguments = InvalidArguments::raw;
  policy_.tool_call_max = 1;
  const Answer got = answer(call(0, "f", "{}") + call(1, "g", "{x") + kEnd);
  EXPECT_EQ(got.summary.mended_calls, 0u);
}

TEST_F(PolicyOrder, a_cut_call_still_gets_its_arguments) {
  policy_.invalid_arguments = InvalidArguments::raw;
  policy_.stop_after_tools = StopAfterTools::first;
  EXPECT_TRUE(answer(call(0, "f", "{}") + text("late")).has("\"arguments\":\"{}\""));
}

TEST_F(PolicyOrder, a_withheld_call_uses_no_id_up) {
  policy_.undeclared_tools = UndeclaredTools::drop_with_note;
  EXPECT_TRUE(
      answer(call(0, "rm", "{}", "x") + call(1, "f", "{}", "x") + kEnd).has("\"id\":\"x\""));
}

TEST_F(PolicyOrder, text_between_the_last_passed_and_a_withheld_call_is_the_tail) {
  policy_.suppress_tail_after_tools = true;
  policy_.tool_call_max = 1;
  const Answer got = answer(call(0, "f", "{}") + text("b") + call(1, "g", "{}") + kEnd);
  EXPECT_EQ(got.summary.text_bytes, 0u);
}

TEST_F(PolicyOrder, reasoning_in_the_text_is_part_of_the_tail) {
  policy_.suppress_tail_after_tools = true;
  policy_.reasoning = ReasoningForm::think_tags;
  const Answer got = answer(call(0, "f", "{}") + reasoning("hm") + kEnd);
  EXPECT_FALSE(got.has("think"));
}

TEST_F(PolicyOrder, a_cut_closes_reasoning_in_the_text) {
  policy_.stop_after_tools = StopAfterTools::burst;
  policy_.reasoning = ReasoningForm::think_tags;
  EXPECT_TRUE(answer(call(0, "f", "{}") + reasoning("hm")).has("</think>"));
}

TEST_F(PolicyOrder, a_cut_withholds_the_tail) {
  policy_.stop_after_tools = StopAfterTools::burst;
  policy_.suppress_tail_after_tools = true;
  const Answer got = answer(call(0, "f", "{}") + text("tail"));
  EXPECT_FALSE(got.has("tail"));
  EXPECT_EQ(got.summary.withheld_bytes, 4u);
}

TEST_F(PolicyOrder, a_limit_of_calls_that_are_not_parallel_counts_what_passes) {
  policy_.dedupe_calls = true;
  policy_.undeclared_tools = UndeclaredTools::text;
  request_.parallel_tool_calls = false;
  const Answer got = answer(call(0, "rm", "{}") + call(1, "f", "{}") + call(2, "g", "{}") + kEnd);
  EXPECT_EQ(got.summary.calls, 1u);
  EXPECT_TRUE(got.has("\"name\":\"f\""));
}

TEST_F(PolicyOrder, the_block_of_a_call_is_no_tail) {
  policy_.suppress_tail_after_tools = true;
  policy_.output = CallOutput::xml;
  const Answer got = answer(call(0, "f", "{}") + text("late") + kEnd);
  EXPECT_TRUE(got.has("<name>f</name>"));
  EXPECT_FALSE(got.has("late"));
}

TEST_F(PolicyOrder, a_withheld_call_has_no_block) {
  policy_.tool_call_max = 1;
  policy_.output = CallOutput::xml_only;
  const Answer got = answer(call(0, "f", "{}") + call(1, "g", "{}") + kEnd);
  EXPECT_TRUE(got.has("<name>f</name>"));
  EXPECT_FALSE(got.has("<name>g</name>"));
}

TEST_F(PolicyOrder, a_block_has_the_arguments_that_were_mended) {
  policy_.invalid_arguments = InvalidArguments::repair;
  policy_.output = CallOutput::xml_only;
  EXPECT_TRUE(answer(call(0, "f", "{\\\"a\\\":\\\"b") + kEnd).has("<a>b</a>"));
}

TEST_F(PolicyOrder, white_space_before_a_block_stays) {
  policy_.output = CallOutput::xml_only;
  EXPECT_TRUE(answer(text("a\\n") + call(0, "f", "{}") + kEnd).has("\"content\":\"a\\n\""));
}

TEST_F(PolicyOrder, a_failure_after_calls_is_judged_by_the_calls_that_pass) {
  policy_.error_after_tools = ErrorAfterTools::tool_calls;
  policy_.undeclared_tools = UndeclaredTools::drop_with_note;
  const std::string failure = "data: {\"error\":{\"message\":\"down\"}}\n\n";
  EXPECT_TRUE(answer(call(0, "f", "{}") + failure).has("\"finish_reason\":\"tool_calls\""));
  EXPECT_TRUE(answer(call(0, "rm", "{}") + failure).has("\"error\""));
}

TEST_F(PolicyOrder, text_is_split_when_all_of_it_is_known) {
  policy_.split = TextSplit::sentences;
  policy_.reasoning = ReasoningForm::think_tags;
  policy_.output = CallOutput::xml;
  const Answer got = answer(reasoning("so") + text("I see. I lo") + text("ok. ") +
                            call(0, "f", "{}") + text("It is done. Ok") + kEnd);
  EXPECT_TRUE(got.has("\"content\":\"<think>so</think>I see. \""));
  EXPECT_TRUE(got.has("\"content\":\"I look. \""));
  EXPECT_LT(got.bytes.find("I look. "), got.bytes.find("tool_calls"));
  EXPECT_TRUE(got.has("\"content\":\"Ok\""));
}

TEST_F(PolicyOrder, a_cut_lets_coalesced_reasoning_go_first) {
  policy_.stop_after_tools = StopAfterTools::burst;
  policy_.reasoning_coalesce_bytes = 1000;
  const Answer got = answer(call(0, "f", "{}") + reasoning("hm"));
  EXPECT_TRUE(got.has("\"reasoning_content\":\"hm\""));
}

}  // namespace
}  // namespace callgate::policy_order_test
