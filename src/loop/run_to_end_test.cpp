#include "callgate/run_to_end.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "loop/transcript_testing.h"

namespace callgate::loop::run_to_end_test {
namespace {

using testing::ElementsAre;

class Reader final : public ClientSink {
 public:
  void accept(const Event& event) override {
    EXPECT_EQ(grammar.check(event), "");
    if (const auto* delta = std::get_if<TextDelta>(&event)) text += delta->text;
  }
  void notice(const Notice&) override {}

  EventGrammar grammar;
  std::string text;
};

// A model that says what it is told to, turn by turn.
class RunToEnd : public testing::Test {
 protected:
  RunToEnd() {
    request_.messages.push_back(message_of(Role::user, "Where is ORD-42?"));
    lookup_.spec.name = "lookup_order";
    owner_.model = [this](const CallModel& call, EventSink& events) -> Result<void> {
      asked_ = call.request.messages;
      play(turns_.at(call.turn - 1), events);
      return {};
    };
    owner_.tool = [this](const RunTool& run) {
      runs_.push_back(run.name + run.arguments);
      now_ += 30;
      return ToolResult{.text = "shipped"};
    };
    owner_.clock = [this] { return now_; };
    turns_ = {{.text = "Let me look that up...",
               .calls = {{"tc1", "lookup_order", R"({"id":"ORD-42"})"}},
               .usage = {.total_tokens = 15},
               .reason = FinishReason::tool_calls},
              {.text = "Your order has shipped!", .usage = {.total_tokens = 30}}};
  }

  Outcome run(Options options = {}) {
    reader_.grammar = {};
    reader_.text.clear();
    auto loop = ToolLoop::make(request_, std::move(options), {lookup_}, reader_);
    return run_to_end(*loop, owner_);
  }

  Request request_{.model = "demo"};
  Tool lookup_;
  Owner owner_;
  std::vector<WholeTurn> turns_;
  Millis now_ = 0;
  std::vector<Message> asked_;
  std::vector<std::string> runs_;
  Reader reader_;
};

TEST_F(RunToEnd, runs_the_tools_until_there_is_no_call_left) {
  const Outcome outcome = run();
  const auto& finish = std::get<Finish>(outcome);
  EXPECT_EQ(finish.end, End::completed);
  EXPECT_EQ(finish.rounds, 1u);
  EXPECT_EQ(finish.usage.total_tokens, 45);
  EXPECT_THAT(runs_, ElementsAre(R"(lookup_order{"id":"ORD-42"})"));
  EXPECT_EQ(print_message(asked_.back()), R"(tool tc1 "shipped")");
  EXPECT_EQ(reader_.text, "Let me look that up...\n\nYour order has shipped!");
  EXPECT_EQ(reader_.grammar.check_end(), "");
}

TEST_F(RunToEnd, gives_the_client_its_own_calls) {
  request_.tools.push_back({.name = "lookup_order"});
  const Outcome outcome = run();
  EXPECT_EQ(std::get<ReturnToClient>(outcome).calls.at(0).id, "tc1");
  EXPECT_TRUE(runs_.empty());
}

TEST_F(RunToEnd, asks_before_a_tool_that_needs_it) {
  lookup_.approval = true;
  run();
  EXPECT_TRUE(runs_.empty());
  EXPECT_EQ(asked_.back().tool_call_id, "tc1");
  owner_.approve = [](const WaitForApproval& wait) { return wait.name == "lookup_order"; };
  run();
  EXPECT_EQ(runs_.size(), 1u);
}

TEST_F(RunToEnd, a_turn_without_an_end_is_an_error) {
  owner_.model = [](const CallModel&, EventSink& events) -> Result<void> {
    events.accept(TextDelta{"Let me"});
    return {};
  };
  const Outcome outcome = run();
  EXPECT_EQ(std::get<Finish>(outcome).end, End::error);
  EXPECT_EQ(std::get<Finish>(outcome).error->message, "the model's turn has no end");
  EXPECT_EQ(std::get<Finish>(outcome).error->code, ErrorCode::upstream_failed);
}

TEST_F(RunToEnd, a_model_that_fails_is_asked_again) {
  const auto works = owner_.model;
  int failures = 0;
  owner_.model = [&](const CallModel& call, EventSink& events) -> Result<void> {
    if (failures++ == 0) return fail(ErrorCode::upstream_failed, "busy");
    CallModel same = call;
    same.turn -= 1;
    return works(same, events);
  };
  EXPECT_EQ(std::get<Finish>(run()).end, End::completed);
}

TEST_F(RunToEnd, what_the_time_limit_stops_does_not_begin) {
  owner_.model = [this](const CallModel&, EventSink& events) -> Result<void> {
    events.accept(CallStarted{0, "lookup_order", "tc1"});
    events.accept(ArgumentsDelta{0, "{}"});
    events.accept(CallFinished{0, CallOutcome::complete});
    now_ += 1'000;
    events.accept(TextDelta{"too late"});
    events.accept(TurnFinished{FinishReason::tool_calls});
    return {};
  };
  const Outcome outcome = run({.loop_timeout = 500});
  EXPECT_EQ(std::get<Finish>(outcome).end, End::timeout);
  EXPECT_TRUE(runs_.empty());
  EXPECT_EQ(reader_.text, "");
}

}  // namespace
}  // namespace callgate::loop::run_to_end_test
