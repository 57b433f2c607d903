#include "turn/loop_turn.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "chat/token_estimate.h"
#include "chat/usage.h"
#include "engine/answer_notes.h"
#include "engine/framing.h"
#include "engine/turn_tap.h"
#include "net/companion.h"
#include "tool/host.h"
#include "turn/observe.h"

namespace callgate::server {
namespace {

void add_round(TurnSummary& all, const TurnSummary& round) {
  all.calls += round.calls;
  for (std::size_t i = 0; i < all.outcomes.size(); ++i) all.outcomes[i] += round.outcomes[i];
  all.text_bytes += round.text_bytes;
  all.reasoning_bytes += round.reasoning_bytes;
  all.argument_bytes += round.argument_bytes;
  all.deltas += round.deltas;
  all.frames_in += round.frames_in;
  all.text_calls += round.text_calls;
  if (!round.settled_on.empty()) all.settled_on = round.settled_on;
  all.missed_in = round.missed_in;
  all.held_back_deltas += round.held_back_deltas;
  all.held_back_bytes += round.held_back_bytes;
  for (std::size_t i = 0; i < all.repairs.size(); ++i) all.repairs[i] += round.repairs[i];
  all.withheld_calls += round.withheld_calls;
  all.withheld_bytes += round.withheld_bytes;
  all.mended_calls += round.mended_calls;
  all.grammar_broken += round.grammar_broken;
  all.grammar_unchecked += round.grammar_unchecked;
}

// About what the loop holds of what rounds said. A call costs much more than its bytes: its record, messages to the model,
// notices, a row of the log; 22 KB were measured. Of calls beyond `max_calls_read` nothing is held.
std::uint64_t said_bytes(const TurnSummary& summary) {
  constexpr std::uint64_t kCall = 24 << 10;
  constexpr std::uint32_t kMostRead = 1'000;
  return engine::said_bytes(summary) + kCall * std::min(summary.calls, kMostRead);
}

Error internal_error(std::string message) {
  return {.code = ErrorCode::internal, .message = std::move(message)};
}

}  // namespace

void LoopRun::call_model(loop::CallModel& call) {
  if (memory_ != nullptr) memory_->take(call);
  // A loop that goes on with the client's results begins with a later round than the first.
  if (round_ && call.round > *round_) {
    hooks_.round_ended(*round_);
    // The model is asked again: the answer is under way, whatever the round before it did.
    session_.open();
  }
  round_ = call.round;
  if (call.retry && given_up_) return tool_loop_->fail_turn(call.turn, *given_up_, now());
  drop_turn();
  if (memory_ == nullptr || !memory_->unsaved()) return start_turn(std::move(call));
  next_call_ = std::move(call);
}

void LoopRun::start_turn(loop::CallModel call) {
  const loop::Compaction::Step step = compaction_.fit(call.request);
  ask_model(std::move(call), step);
}

// What was stored before stays whole: only the model gets less.
void LoopRun::ask_model(loop::CallModel call, loop::Compaction::Step step) {
  if (step == loop::Compaction::Step::summarize) return start_summary(std::move(call));
  if (step == loop::Compaction::Step::shortened) {
    host_.world.metrics.loop_compactions.with(model().name, "shortened").add();
    host_.world.log.info("a tool loop left out what is old to fit the model's context",
                         {{"request", job_.request_id},
                          {"round", call.round},
                          {"tokens", estimate_tokens(call.request)}});
  }
  heard_ = false;
  said_ = false;
  round_log_.begin(call.round, log_.elapsed_ms(), call.retry);
  log_.trace().begin_round(call.round, call.retry);
  turn_ = std::make_shared<Turn>(*this, std::move(call));
  host_.loop.spawn(net::watched(play_turn(turn_), [turn = turn_] {
    if (turn->run != nullptr) turn->run->lose_turn(*turn);
  }));
}

// The upstream says that it was too long: less is sent, as often as there is something to leave out.
bool LoopRun::try_shorter(const Turn& turn) {
  if (!loop::is_too_long_for_model(turn.round.error())) return false;
  loop::CallModel again = turn.asked;
  if (!compaction_.refused(again.request)) return false;
  const loop::Compaction::Step step = compaction_.fit(again.request);
  if (step == loop::Compaction::Step::stuck) return false;
  drop_turn();
  ask_model(std::move(again), step);
  return true;
}

net::Task<> LoopRun::play_turn(std::shared_ptr<Turn> turn) {
  const Round::End end = co_await turn->round.run();
  if (turn->run != nullptr) turn->run->end_turn(*turn, end);
}

void LoopRun::lose_turn(const Turn& turn) {
  given_up_ = internal_error("the turn of the model broke off inside the gateway");
  if (turn_.get() == &turn) drop_turn();  // it may have thrown while the upstream kept what it must
  tool_loop_->fail_turn(turn.asked.turn, *given_up_, now());
  news_.notify();
}

void LoopRun::end_turn(const Turn& turn, Round::End end) {
  if (end == Round::End::failed && try_shorter(turn)) return;
  // A turn that was too much for the gateway is not tried again.
  const bool broken = end == Round::End::broken && objection();
  if (end == Round::End::failed || broken) given_up_ = turn.round.error();
  if (end == Round::End::failed || end == Round::End::broken) {
    tool_loop_->fail_turn(turn.asked.turn, turn.round.error(), now());
  }
  news_.notify();
}

void LoopRun::drop_turn() {
  next_call_.reset();
  drop_summary();
  if (turn_ == nullptr) return;
  turn_->run = nullptr;
  turn_->round.drop();
  turn_->go.notify();
  turn_.reset();
}

std::shared_ptr<engine::TurnOutlet> LoopRun::begin_answer(const Request& request,
                                                          PipelineOptions& options) {
  if (job_.capture) job_.capture->begin_round(request, options);
  round_log_.begin_answer();
  return std::make_shared<Outlet>(*this, request, options);
}

void LoopRun::after_read() {
  session_.after_read();
  if (!reserve(said_bytes(turn_->round.summary()))) out_of_memory_ = true;
  news_.notify();
}

// What the rounds said, what the tools gave, and `more`.
bool LoopRun::reserve(std::uint64_t more) {
  return held_.fit(said_bytes(rounds_) + result_bytes_ + more);
}

// The loop keeps all that a round says.
std::optional<Error> LoopRun::objection() const {
  if (out_of_memory_) return out_of_memory();
  const std::uint64_t most = job_.snapshot->config.limits.max_upstream_body.count;
  if (engine::said_bytes(turn_->round.summary()) > most) return engine::too_large("an answer");
  return session_.objection();
}

void LoopRun::end_answer(const TurnSummary& summary) {
  add_round(rounds_, summary);
  round_log_.end_answer(log_.elapsed_ms());
}

// The task of the loop sends; the round waits for it.
net::Task<bool> LoopRun::send() {
  const std::shared_ptr<Turn> turn = turn_;
  (void)co_await turn->go.wait();
  co_return true;
}

void LoopRun::take(const Event& event) {
  heard_ = true;
  const bool words =
      std::holds_alternative<TextDelta>(event) || std::holds_alternative<ReasoningDelta>(event);
  // After a failure only words that were held back are of use, and only where the client has others of the turn.
  if (turn_->round.is_failing() && !(words && said_)) return;
  said_ = said_ || words;
  round_log_.accept(event);
  if (const auto* end = std::get_if<TurnFinished>(&event)) {
    if (end->reason == FinishReason::upstream_error) return;  // end_turn() has the error
    count_usage(turn_->asked.request, turn_->round.summary());
  }
  tool_loop_->accept(event);
}

// Before the loop hears of the turn's end: it may be the end of the answer.
void LoopRun::count_usage(const Request& asked, const TurnSummary& summary) {
  const bool estimated = !engine::is_stated(summary.usage) && job_.options.policy.estimate_usage;
  if (estimated) {
    const std::uint64_t prompt = engine::prompt_bytes(asked);
    add_usage(usage_, engine::complete_usage(prompt, summary));
  } else if (summary.usage) {
    add_usage(usage_, *summary.usage);
  }
  if (estimated || usage_estimate_) usage_estimate_ = usage_;
}

void LoopRun::run_tool(loop::RunTool& asked) {
  tool::ToolCall call;
  call.id = std::move(asked.call_id);
  call.name = std::move(asked.name);
  call.arguments = std::move(asked.arguments);
  call.context = tool_context();
  TurnTrace::ToolTrace trace = log_.trace().begin_tool(call.id, call.name);
  call.context.traceparent = std::move(trace.traceparent);
  call.context.tracestate = std::move(trace.tracestate);
  const auto run = std::make_shared<ToolRun>();
  run->run = this;
  run->id = asked.run;
  run->name = call.name;
  run->call = call.id;
  run->round = tool_loop_->rounds();
  runs_[asked.run] = run;
  const net::Millis timeout(std::max<loop::Millis>(1, asked.deadline - now()));
  auto playing = play_tool(run, *host_.world.tools, host_.loop, std::move(call), timeout);
  host_.loop.spawn(net::watched(std::move(playing), [run] {
    tool::ToolResult broken = tool::error_result("the tool broke off inside the gateway");
    if (run->run != nullptr) run->run->finish_tool(*run, std::move(broken));
  }));
}

net::Task<> LoopRun::play_tool(std::shared_ptr<ToolRun> run, tool::ToolHost& host,
                               net::Loop& event_loop, tool::ToolCall call, net::Millis timeout) {
  tool::ToolResult result = co_await host.run(event_loop, std::move(call), timeout, run->cancel);
  if (run->run != nullptr) run->run->finish_tool(*run, std::move(result));
}

void LoopRun::cancel_tool(loop::RunId id) {
  const auto found = runs_.find(id);
  if (found == runs_.end()) return;
  const std::shared_ptr<ToolRun> run = found->second;
  runs_.erase(found);
  run->run = nullptr;
  run->cancel.cancel();
  observe_tool_run(host_.world, run->name, "cancelled", std::nullopt);
  log_.trace().end_tool(run->call, run->name, "cancelled");
}

void LoopRun::finish_tool(ToolRun& run, tool::ToolResult result) {
  const std::string_view outcome = result.is_error ? "error" : "ok";
  observe_tool_run(host_.world, run.name, outcome, result.duration);
  log_.trace().end_tool(run.call, run.name, outcome);
  log_.record().call_result(run.call, run.name,
                            {.round = run.round,
                             .is_error = result.is_error,
                             .duration_ms = result.duration.count(),
                             .bytes = static_cast<std::int64_t>(result.text.size()),
                             .text = result.text});
  if (!reserve(result.text.size())) {
    result.text = "the gateway has no memory for the result of this call";
    result.is_error = true;
  }
  result_bytes_ += result.text.size();
  round_log_.add_result({.id = run.call,
                         .name = run.name,
                         .is_error = result.is_error,
                         .duration_ms = result.duration.count(),
                         .bytes = result.text.size(),
                         .text = log_.record().beginning_of(result.text)});
  hooks_.call_ended({.id = run.call,
                     .name = run.name,
                     .is_error = result.is_error,
                     .duration_ms = result.duration.count()});
  loop::ToolResult given{
      .text = std::move(result.text), .is_error = result.is_error, .truncated = result.truncated};
  const loop::RunId id = run.id;
  runs_.erase(id);
  tool_loop_->finish_run(id, std::move(given), now());
  news_.notify();
}

}  // namespace callgate::server
