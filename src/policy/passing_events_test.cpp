// What a policy has no business with passes it unchanged and at once.
#include <functional>
#include <memory>
#include <utility>

#include "policy/call_limit.h"
#include "policy/call_whitespace.h"
#include "policy/calls_as_xml.h"
#include "policy/coalesce_reasoning.h"
#include "policy/dedupe_calls.h"
#include "policy/error_after_tools.h"
#include "policy/invalid_arguments.h"
#include "policy/policy_testing.h"
#include "policy/reasoning_form.h"
#include "policy/split_sentences.h"
#include "policy/stop_after_tools.h"
#include "policy/suppress_tail.h"
#include "policy/undeclared_tools.h"
#include "policy/unique_call_ids.h"

namespace callgate::policy::passing_events_test {
namespace {

using Scope = FieldReported::Scope;

class PassingEvents : public testing::Test {
 protected:
  struct Row {
    std::string_view name;
    std::function<std::unique_ptr<Stage>()> make;
  };

  std::vector<Row> stages() {
    return {
        {"call_limit", [this] { return std::make_unique<CallLimit>(9, withheld_); }},
        {"call_whitespace", [] { return std::make_unique<CallWhitespace>(1000); }},
        {"calls_as_xml, only", [] { return std::make_unique<CallsAsXml>(true, 1000); }},
        {"calls_as_xml, both", [] { return std::make_unique<CallsAsXml>(false, 1000); }},
        {"coalesce_reasoning", [] { return std::make_unique<CoalesceReasoning>(4); }},
        {"dedupe_calls", [this] { return std::make_unique<DedupeCalls>(1000, withheld_); }},
        {"error_after_tools", [] { return std::make_unique<ErrorAfterToolCalls>(); }},
        {"repair_arguments", [this] { return std::make_unique<RepairArguments>(mended_); }},
        {"raw_arguments", [this] { return std::make_unique<RawArguments>(1000, mended_); }},
        {"split_sentences", [] { return std::make_unique<SplitSentences>(SentenceOptions{}); }},
        {"stop_after_tools",
         [this] {
           return std::make_unique<StopAfterToolCalls>(StopAfterTools::first, true, withheld_);
         }},
        {"suppress_tail", [this] { return std::make_unique<SuppressTail>(1000, withheld_); }},
        {"undeclared_tools, text",
         [this] {
           return std::make_unique<UndeclaredToolCalls>(UndeclaredTools::text, tools_, withheld_);
         }},
        {"undeclared_tools, note",
         [this] {
           return std::make_unique<UndeclaredToolCalls>(UndeclaredTools::drop_with_note, tools_,
                                                        withheld_);
         }},
        {"unique_call_ids",
         [this] { return std::make_unique<UniqueCallIds>(CallIdStyle::native, mint_); }},
    };
  }

  const std::vector<ToolSpec> tools_{{.name = "f"}};
  Withheld withheld_;
  std::uint32_t mended_ = 0;
  IdMint mint_{1};
};

TEST_F(PassingEvents, fields_and_usage_pass_at_once) {
  const std::pair<Event, std::string_view> rows[] = {
      {FieldReported{Scope::turn, "service_tier", "\"x\""}, "field service_tier \"x\"\n"},
      {FieldReported{Scope::choice, "logprobs", "{}"}, "field logprobs {}\n"},
      {FieldReported{Scope::message, "annotations", "[]"}, "field annotations []\n"},
      {UsageReported{{.prompt_tokens = 1, .completion_tokens = 2, .total_tokens = 3}, {}},
       "usage prompt=1 completion=2 total=3\n"},
  };
  for (const Row& row : stages()) {
    for (const auto& [event, printed] : rows) {
      const std::unique_ptr<Stage> stage = row.make();
      GrammarLog log;
      stage->push(event, log);
      EXPECT_EQ(log.print(), printed) << row.name;
    }
  }
}

TEST_F(PassingEvents, a_turn_without_calls_keeps_its_words_and_its_reason) {
  const std::pair<FinishReason, std::string_view> reasons[] = {
      {FinishReason::stop, "finish stop\n"},
      {FinishReason::length, "finish length\n"},
      {FinishReason::content_filter, "finish content_filter\n"},
      {FinishReason::upstream_error, "finish upstream_error\n"}};
  for (const Row& row : stages()) {
    for (const auto& [reason, printed] : reasons) {
      const std::unique_ptr<Stage> stage = row.make();
      EXPECT_EQ(
          run(*stage,
              turn({reasoning("Hm. "), text("One. Two "), {RefusalDelta{"No."}}, finish(reason)})),
          "reasoning \"Hm. \"\ntext \"One. Two \"\nrefusal \"No.\"\n" + std::string(printed))
          << row.name;
    }
  }
  EXPECT_EQ(withheld_.calls, 0u);
  EXPECT_EQ(withheld_.bytes, 0u);
  EXPECT_EQ(mended_, 0u);
}

TEST_F(PassingEvents, hidden_reasoning_hides_nothing_else) {
  HideReasoning hide(withheld_);
  EXPECT_EQ(run(hide, turn({reasoning("Hm."),
                            {RefusalDelta{"No."}},
                            text("a"),
                            {FieldReported{Scope::turn, "service_tier", "1"}},
                            call(0, "f", "{}"),
                            {UsageReported{{.prompt_tokens = 1}, {}}},
                            finish_calls()})),
            "refusal \"No.\"\ntext \"a\"\nfield service_tier 1\ncall 0 f\nargs 0 {}\n"
            "end 0 complete\nusage prompt=1 completion=0 total=0\nfinish tool_calls\n");
  EXPECT_EQ(withheld_.bytes, 3u);
}

}  // namespace
}  // namespace callgate::policy::passing_events_test
