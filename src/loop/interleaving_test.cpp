// All orders of what can happen to a small loop: results, the end of the model's turn, cancel, time. Whatever the order, no
// history has a call without its result, and a round is whole before the next turn starts.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "chat/event_grammar.h"
#include "loop/transcript_testing.h"

namespace callgate::loop::interleaving_test {
namespace {

struct Scene {
  std::string_view name;
  Options options;
  bool exclusive = false;
  bool approval = false;
  bool client_call = false;
};

// One loop that is driven by choices: at each point the inputs that are possible are numbered, and the next choice
// picks one.
class Run {
 public:
  explicit Run(const Scene& scene) : scene_(scene), client_(transcript_) {
    Request request;
    request.messages.push_back(message_of(Role::user, "Go"));
    request.tools.push_back({.name = "ask"});
    std::vector<Tool> tools{
        {.spec = {.name = "a"}, .timeout = 50},
        {.spec = {.name = "b"}, .exclusive = scene.exclusive, .approval = scene.approval}};
    Result<ToolLoop> made = ToolLoop::make(request, scene.options, tools, client_);
    loop_ = std::make_unique<ToolLoop>(std::move(*made));
    loop_->start(0);
    take();
  }

  std::size_t possible() const {
    if (loop_->finished()) return 0;
    return (next_event_ < events().size() ? 1 : 0) + running_.size() + waiting_.size() +
           (times_ < 2 ? 2 : 1);
  }

  void choose(std::size_t choice) {
    if (next_event_ < events().size()) {
      if (choice == 0) return push_event();
      --choice;
    }
    if (choice < running_.size()) {
      const RunId run = running_[choice];
      running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(choice));
      EXPECT_TRUE(loop_->finish_run(run, {.text = "ok " + std::to_string(run)}, now_));
    } else if (choice -= running_.size(); choice < waiting_.size()) {
      const RunId run = waiting_[choice];
      waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(choice));
      EXPECT_TRUE(loop_->approve(run, now_));
    } else {
      if (choice == waiting_.size()) {
        loop_->cancel(now_);
      } else {
        ++times_;
        // The first deadline: of a tool, of an approval, or of the loop.
        now_ = loop_->deadline().value();
        loop_->on_time(now_);
      }
    }
    take();
  }

  void check_end() {
    ASSERT_TRUE(ended_) << transcript_;
    EXPECT_FALSE(loop_->deadline());
    EXPECT_TRUE(running_.empty()) << "a run was neither finished nor cancelled\n" << transcript_;
  }

  const std::string& transcript() const { return transcript_; }

 private:
  std::vector<std::string> events() const {
    if (turn_ == 1) {
      return scene_.client_call ? std::vector<std::string>{"text", "a", "ask", "b", "end"}
                                : std::vector<std::string>{"text", "a", "b", "end"};
    }
    return {"text", "end"};
  }

  void push_event() {
    const std::string event = events()[next_event_++];
    if (event == "text") {
      loop_->accept(TextDelta{"words "});
    } else if (event == "end") {
      loop_->accept(TurnFinished{turn_ == 1 ? FinishReason::tool_calls : FinishReason::stop});
    } else {
      loop_->accept(CallStarted{calls_, event, event});
      loop_->accept(ArgumentsDelta{calls_, "{}"});
      loop_->accept(CallFinished{calls_++, CallOutcome::complete});
    }
    take();
  }

  void take() {
    for (const Action& action : loop_->take_actions()) {
      ASSERT_FALSE(ended_) << "an action after the last\n" << transcript_;
      transcript_ += print_action(action);
      std::visit(Overloaded{
                     [&](const CallModel& a) { start_turn(a); },
                     [&](const StopModel&) {},
                     [&](const RunTool& a) { running_.push_back(a.run); },
                     [&](const CancelTool& a) { std::erase(running_, a.run); },
                     [&](const WaitForApproval&) {},
                     [&](const ReturnToClient& a) { check_returned(a); },
                     [&](const Finish& a) { check_finished(a); },
                 },
                 action);
    }
    // Approvals end without an action of their own.
    waiting_.clear();
    for (const WaitForApproval& wait : loop_->approvals()) waiting_.push_back(wait.run);
  }

  void start_turn(const CallModel& call) {
    EXPECT_TRUE(turn_ == 0 || next_event_ == events().size()) << "the turn before is not over";
    EXPECT_TRUE(running_.empty()) << "a tool of the round before still runs\n" << transcript_;
    turn_ = call.turn;
    next_event_ = 0;
    if (scene_.options.memory == Memory::inside) {
      memory_.insert(memory_.end(), call.request.messages.begin(),
                     call.request.messages.begin() + static_cast<std::ptrdiff_t>(call.remember));
      check(memory_);
    } else {
      check(call.request.messages);
    }
    if (turn_ == 2) {
      const auto& messages =
          scene_.options.memory == Memory::inside ? memory_ : call.request.messages;
      ASSERT_EQ(messages.size(), 4u) << transcript_;
      EXPECT_EQ(messages[1].calls.size(), 2u);
      EXPECT_EQ(messages[1].content.text, "\"words \"");
      EXPECT_EQ(messages[2].tool_call_id, "a");
      EXPECT_EQ(messages[3].tool_call_id, "b");
    }
  }

  void check_returned(const ReturnToClient& back) {
    ended_ = true;
    ASSERT_EQ(back.calls.size(), 1u);
    const State::Leg& leg = back.state.legs.back();
    EXPECT_EQ(leg.messages.back().calls.size(), 3u);
    ASSERT_EQ(leg.results.size(), 2u) << "callgate's results are complete\n" << transcript_;
  }

  void check_finished(const Finish& last) {
    ended_ = true;
    memory_.insert(memory_.end(), last.remember.begin(), last.remember.end());
    check(memory_);
  }

  void check(const std::vector<Message>& messages) {
    EXPECT_EQ(unanswered_call(messages), "") << transcript_;
  }

  const Scene& scene_;
  std::string transcript_;
  PrintedClient client_;
  std::unique_ptr<ToolLoop> loop_;
  std::vector<Message> memory_;
  std::vector<RunId> running_;
  std::vector<RunId> waiting_;
  std::uint32_t turn_ = 0;
  std::size_t next_event_ = 0;
  CallIndex calls_ = 0;
  Millis now_ = 0;
  int times_ = 0;
  bool ended_ = false;
};

// A loop cannot be copied: each order is played from its start, then the last choice that has a next one takes it.
std::size_t try_all_orders(const Scene& scene) {
  std::size_t orders = 0;
  std::vector<std::size_t> choices;
  while (true) {
    Run run(scene);
    std::vector<std::size_t> widths;
    for (std::size_t i = 0; run.possible() > 0; ++i) {
      if (i == choices.size()) choices.push_back(0);
      widths.push_back(run.possible());
      run.choose(choices[i]);
      if (::testing::Test::HasFailure()) {
        ADD_FAILURE() << scene.name << ":\n" << run.transcript();
        return orders;
      }
    }
    run.check_end();
    ++orders;
    while (!choices.empty() && choices.back() + 1 == widths[choices.size() - 1]) choices.pop_back();
    if (choices.empty()) return orders;
    ++choices.back();
  }
}

TEST(LoopOrders, every_order_of_results_end_cancel_and_time_keeps_history_whole) {
  const Options plain{.loop_timeout = 200, .approval_timeout = 80, .memory = Memory::outside};
  Options inside = plain;
  inside.memory = Memory::inside;
  Options single = inside;
  single.parallel = 1;
  Options stopping = inside;
  stopping.max_calls = 1;
  std::size_t orders = 0;
  for (const Scene& scene :
       {Scene{.name = "outside", .options = plain}, Scene{.name = "inside", .options = inside},
        Scene{.name = "one at a time", .options = single},
        Scene{.name = "limit", .options = stopping},
        Scene{.name = "exclusive", .options = inside, .exclusive = true},
        Scene{.name = "approval", .options = inside, .approval = true},
        Scene{.name = "mixed", .options = inside, .client_call = true}}) {
    const std::size_t tried = try_all_orders(scene);
    EXPECT_GT(tried, 20u) << scene.name;
    orders += tried;
    if (HasFailure()) return;
  }
  RecordProperty("orders", static_cast<int>(orders));
}

}  // namespace
}  // namespace callgate::loop::interleaving_test
