#include "engine/grammar_stage.h"

#include <gtest/gtest.h>

namespace callgate::engine::grammar_stage_test {
namespace {

class Nowhere final : public EventSink {
 public:
  void accept(const Event&) override { ++events; }
  int events = 0;
};

class Grammar : public testing::Test {
 protected:
  Grammar() {
    using Kind = ToolAlias::Kind;
    auto& aliases = request_.client.aliases;
    aliases.push_back({.kind = Kind::freeform,
                       .function = "date",
                       .name = "date",
                       .has_grammar = true,
                       .pattern = "[0-9]{4}-[0-9]{2}"});
    aliases.push_back(
        {.kind = Kind::freeform, .function = "patch", .name = "patch", .has_grammar = true});
    aliases.push_back({.kind = Kind::freeform, .function = "shell", .name = "shell"});
  }

  void call(std::string_view name, std::string_view arguments,
            CallOutcome outcome = CallOutcome::complete) {
    GrammarStage stage(request_, 1000, {broken_, unchecked_});
    stage.push(CallStarted{.call = 0, .name = name}, sink_);
    for (const char& c : arguments) stage.push(ArgumentsDelta{0, {&c, 1}}, sink_);
    stage.push(CallFinished{0, outcome}, sink_);
    EXPECT_EQ(std::exchange(sink_.events, 0), static_cast<int>(arguments.size()) + 2);
  }

  Request request_;
  std::uint32_t broken_ = 0;
  std::uint32_t unchecked_ = 0;
  Nowhere sink_;
};

TEST_F(Grammar, counts_inputs_that_do_not_match) {
  call("date", R"({"input":"2026-11"})");
  EXPECT_EQ(broken_, 0u);
  call("date", R"({"input":"next week"})");
  EXPECT_EQ(broken_, 1u);
  call("date", R"(2026-11)");  // as the client gets it
  EXPECT_EQ(broken_, 1u);
  EXPECT_EQ(unchecked_, 0u);
}

TEST_F(Grammar, does_so_much_work_for_all_calls_together) {
  request_.client.aliases[0].pattern = "(?:a?){1000}a{1000}";
  GrammarStage stage(request_, 1000, {broken_, unchecked_});
  const std::string arguments = R"({"input":")" + std::string(200, 'a') + "\"}";
  for (CallIndex i = 0; i < 200; ++i) {  // up to a million steps each
    stage.push(CallStarted{.call = i, .name = "date"}, sink_);
    stage.push(ArgumentsDelta{i, arguments}, sink_);
    stage.push(CallFinished{i, CallOutcome::complete}, sink_);
  }
  EXPECT_EQ(broken_ + unchecked_, 200u);
  EXPECT_GE(broken_, 3u);
  EXPECT_GE(unchecked_, 150u);
}

TEST_F(Grammar, counts_what_it_cannot_check) {
  call("patch", R"({"input":"*** Begin Patch"})");
  EXPECT_EQ(unchecked_, 1u);
  call("date", R"({"input":")" + std::string(1100, '1') + "\"}");
  EXPECT_EQ(unchecked_, 2u);
  EXPECT_EQ(broken_, 0u);
}

TEST_F(Grammar, leaves_other_calls_and_those_that_were_cut_alone) {
  call("shell", R"({"input":"ls"})");
  call("search", R"({"q":1})");
  call("date", R"({"input":"20)", CallOutcome::truncated);
  EXPECT_EQ(broken_ + unchecked_, 0u);
  EXPECT_TRUE(GrammarStage::is_needed(request_));
  EXPECT_FALSE(GrammarStage::is_needed({}));
}

}  // namespace
}  // namespace callgate::engine::grammar_stage_test
