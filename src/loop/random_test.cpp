// Loops under random inputs, with all features at once: whatever comes, the promises of loop.h hold.
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "loop/transcript_testing.h"

namespace callgate::loop::random_test {
namespace {

class RandomRun {
 public:
  explicit RandomRun(std::uint32_t seed)
      : random_(seed), client_(std::make_unique<PrintedClient>(out_)) {
    options_ = {.max_tool_rounds = below(4),
                .max_calls_per_tool = 1 + below(5),
                .max_calls = 1 + below(8),
                .calls_per_round = 1 + below(4),
                .parallel = 1 + below(3),
                .loop_timeout = 60 + below(300),
                .tool_timeout = 100,
                .approval_timeout = 150,
                .on_limit = below(2) == 0 ? OnLimit::stop : OnLimit::tell_model,
                .on_tool_error = below(5) == 0 ? OnToolError::stop : OnToolError::tell_model,
                .memory = static_cast<Memory>(below(3)),
                .show_tool_calls = below(2) == 0,
                .repeated_calls = 1 + below(3),
                .repeats_to_force = below(3),
                .evict_bytes = 40,
                .evict_preview_bytes = 10,
                .find_tools_above = 1 + below(6)};
    request_.messages.push_back(message_of(Role::user, "Go"));
    request_.tools.push_back({.name = "ask"});
    start(std::nullopt);
  }

  void play(std::size_t steps) {
    for (std::size_t i = 0; i < steps && !::testing::Test::HasFailure(); ++i) {
      if (loop_->finished()) {
        if (!returned_) break;
        resume();
      } else {
        step();
      }
      take();
    }
    if (!loop_->finished()) loop_->cancel(now_);
    take();
    EXPECT_TRUE(running_.empty()) << out_;
    EXPECT_TRUE(loop_->finished());
    EXPECT_FALSE(loop_->finish_run(1, {}, now_));
    EXPECT_TRUE(loop_->take_actions().empty());
  }

  const std::string& transcript() const { return out_; }
  std::optional<End> end() const { return end_; }

 private:
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }

  void start(std::optional<State> state) {
    const std::vector<Tool> tools{{.spec = {.name = "a", .description = "finds things"}},
                                  {.spec = {.name = "b"}, .exclusive = true},
                                  {.spec = {.name = "c"}, .approval = true},
                                  {.spec = {.name = "d"}, .return_direct = true, .timeout = 30},
                                  {.spec = {.name = "e"}, .max_calls = 1}};
    Result<ToolLoop> made =
        ToolLoop::make(request_, options_, tools, *client_, {}, std::move(state));
    loop_ = std::make_unique<ToolLoop>(std::move(*made));
    loop_->start(now_);
    returned_.reset();
    in_turn_ = true;
    take();
  }

  void resume() {
    Message seen = message_of(Role::assistant, client_->text);
    seen.calls = returned_->calls;
    if (options_.memory == Memory::inside) {
      request_.messages.clear();
    } else {
      request_.messages.push_back(seen);
    }
    for (const CallRecord& call : seen.calls) {
      if (below(4) == 0 && seen.calls.size() > 1) continue;
      Message result = message_of(Role::tool, "mine");
      result.tool_call_id = call.id;
      request_.messages.push_back(std::move(result));
    }
    const bool answered =
        request_.messages.size() > 0 && request_.messages.back().role == Role::tool;
    const Result<State> state = decode_state(encode_state(returned_->state));
    client_ = std::make_unique<PrintedClient>(out_);
    if (answered) return start(*state);
    returned_.reset();
  }

  void step() {
    switch (below(14)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return call();
      case 4:
        if (in_turn_) loop_->accept(TextDelta{"words "});
        return;
      case 5:
      case 6:
        if (in_turn_) end_turn();
        return;
      case 7:
      case 8:
      case 9:
        return finish_a_run();
      case 10:
        now_ += below(60);
        return loop_->on_time(now_);
      case 11:
        if (below(4) == 0) loop_->inject("more");
        return;
      case 12:
        if (in_turn_ && below(3) == 0) {
          in_turn_ = false;
          loop_->fail_turn(turn_, {.code = ErrorCode::unavailable, .message = "gone"}, now_);
        }
        return;
      case 13:
        if (const std::vector<WaitForApproval> waiting = loop_->approvals(); !waiting.empty()) {
          EXPECT_TRUE(below(2) == 0 ? loop_->approve(waiting[0].run, now_)
                                    : loop_->deny(waiting[0].run, "", now_));
        }
        return;
    }
  }

  void call() {
    static constexpr std::string_view kNames[] = {"a",   "b",       "c",           "d",         "e",
                                                  "ask", "nothing", "read_result", "find_tools"};
    static constexpr std::string_view kArguments[] = {R"({})", R"({"query":"things"})",
                                                      R"({"id":"r1"})", R"({"x":)", ""};
    if (!in_turn_) return;
    loop_->accept(
        CallStarted{calls_, kNames[below(std::size(kNames))], below(2) == 0 ? "same" : ""});
    if (const std::string_view arguments = kArguments[below(std::size(kArguments))];
        !arguments.empty()) {
      loop_->accept(ArgumentsDelta{calls_, arguments});
    }
    if (below(12) == 0) return loop_->cancel(now_);
    loop_->accept(CallFinished{calls_++, static_cast<CallOutcome>(below(8) == 0 ? below(3) : 0)});
  }

  void end_turn() {
    in_turn_ = false;
    const FinishReason reason = below(15) == 0 ? FinishReason::length : FinishReason::stop;
    loop_->accept(UsageReported{{.prompt_tokens = 1, .total_tokens = 1}});
    loop_->accept(TurnFinished{reason});
  }

  void finish_a_run() {
    if (running_.empty()) return;
    const std::size_t i = below(static_cast<std::uint32_t>(running_.size()));
    const RunId run = running_[i];
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
    const ToolResult result{.text = std::string(below(80), 'x'), .is_error = below(5) == 0};
    EXPECT_TRUE(loop_->finish_run(run, result, now_)) << out_;
  }

  void take() {
    for (const Action& action : loop_->take_actions()) {
      out_ += print_action(action);
      std::visit(Overloaded{
                     [&](const CallModel& a) { start_turn(a); },
                     [&](const StopModel&) { in_turn_ = false; },
                     [&](const RunTool& a) {
                       running_.push_back(a.run);
                       EXPECT_LE(running_.size(), options_.parallel);
                       EXPECT_GT(a.deadline, now_);
                     },
                     [&](const CancelTool& a) { EXPECT_EQ(std::erase(running_, a.run), 1u); },
                     [&](const WaitForApproval&) {},
                     [&](const ReturnToClient& a) { returned_ = a; },
                     [&](const Finish& a) {
                       end_ = a.end;
                       memory_.insert(memory_.end(), a.remember.begin(), a.remember.end());
                       EXPECT_EQ(unanswered_call(memory_), "");
                     },
                 },
                 action);
    }
  }

  void start_turn(const CallModel& call) {
    EXPECT_TRUE(running_.empty());
    const auto& messages = call.request.messages;
    if (options_.memory == Memory::inside) {
      memory_.insert(memory_.end(), messages.begin(),
                     messages.begin() + static_cast<std::ptrdiff_t>(call.remember));
    }
    EXPECT_EQ(unanswered_call(options_.memory == Memory::inside ? memory_ : messages), "");
    EXPECT_LE(call.round, options_.max_tool_rounds);
    turn_ = call.turn;
    calls_ = 0;
    in_turn_ = true;
  }

  std::mt19937 random_;
  Options options_;
  Request request_;
  std::string out_;
  std::unique_ptr<PrintedClient> client_;
  std::unique_ptr<ToolLoop> loop_;
  std::vector<Message> memory_;
  std::vector<RunId> running_;
  std::optional<ReturnToClient> returned_;
  std::optional<End> end_;
  std::uint32_t turn_ = 0;
  CallIndex calls_ = 0;
  Millis now_ = 0;
  bool in_turn_ = false;
};

TEST(ToolLoop, keeps_its_promises_under_random_inputs) {
  std::map<End, int> ends;
  for (std::uint32_t seed = 0; seed < 1500; ++seed) {
    RandomRun run(seed);
    run.play(40);
    ASSERT_FALSE(HasFailure()) << "seed " << seed << "\n" << run.transcript();
    if (run.end()) ++ends[*run.end()];
  }
  EXPECT_EQ(ends.size(), 9u) << "every end was reached";
}

}  // namespace
}  // namespace callgate::loop::random_test
