#include "turn/loop_run.h"

#include <algorithm>
#include <utility>

#include "engine/client_stages.h"
#include "net/unix_time.h"
#include "tool/host.h"
#include "turn/loop_turn.h"
#include "turn/observe.h"

namespace callgate::server {
namespace {

constexpr std::string_view kReasonPrefix = "loop_";

// What belongs to the client's side stays off: the loop needs all that the model says.
PolicyOptions policy_of_rounds(const PolicyOptions& asked) {
  PolicyOptions policy;
  policy.stop_after_tools = asked.stop_after_tools;
  policy.suppress_tail_after_tools =
      asked.suppress_tail_after_tools || asked.output == CallOutput::json;
  policy.call_whitespace = asked.call_whitespace && !engine::calls_become_text(asked.output);
  policy.dedupe_calls = asked.dedupe_calls;
  policy.invalid_arguments = asked.invalid_arguments;
  policy.call_id_style = asked.call_id_style;
  policy.error_after_tools = asked.error_after_tools;
  policy.tool_call_max = 0;  // the loop has limits of its own
  policy.estimate_usage = false;
  return policy;
}

}  // namespace

LoopRun::LoopRun(const TurnHost& host, LoopWork work, const net::Headers& asked, Audience& audience,
                 Wants wants)
    : host_(host),
      job_(std::move(work.job)),
      choice_(std::move(*work.choice)),
      round_policy_(policy_of_rounds(job_.options.policy)),
      audience_(audience),
      id_(host.mint.mint("loop_")),
      log_(host, job_, asked),
      session_(host, job_, log_, audience, wants),
      round_log_(log_.record().max_answer()),
      hooks_(host.world.tools, tool_context(), id_),
      news_(host.loop),
      held_end_(session_),
      compaction_(model().context_length, job_.snapshot->config.loop.summary_tokens) {
  if (choice_.conversation.empty()) return;
  World& world = host_.world;
  store::MemoryName name{std::string(job_.key_name()), choice_.conversation};
  memory_ =
      std::make_unique<LoopMemory>(world.memories, world.conversations.claims, host_.loop,
                                   std::move(name), choice_.options.memory, host_.mint.next());
}

LoopRun::~LoopRun() {
  entry_.reset();
  drop_turn();
  while (!runs_.empty()) cancel_tool(runs_.begin()->first);
}

net::Task<> LoopRun::run() {
  audience_.headers().add("x-callgate-loop", id_);
  log_.begin(session());
  audience_.on_gone([this] {
    session_.leave();
    news_.notify();
  });
  const bool stayed = co_await play();
  audience_.on_gone({});
  co_await end(stayed);
}

net::Task<bool> LoopRun::play() {
  if (session_.has_judge()) {
    if (const auto allowed = co_await session_.judge_prompt(); !allowed) {
      error_ = allowed.error();
      co_return !audience_.is_gone();
    }
  }
  auto state = co_await recall();
  if (!state) {
    error_ = state.error();
    co_return true;
  }
  auto made = make_loop(std::move(*state));
  if (!made) {
    error_ = made.error();
    co_return true;
  }
  tool_loop_.emplace(std::move(*made));
  const LoopGauge gauge(host_.world);
  const bool stayed = co_await drive();
  entry_.reset();
  if (session_.has_judge()) co_await session_.judge_rest();
  if (memory_ != nullptr) co_await store_end();
  co_return stayed;
}

// What an answer that ended with calls for the client left to be remembered.
net::Task<Result<std::optional<loop::State>>> LoopRun::recall() {
  if (memory_ == nullptr) {
    co_return host_.world.loop_states.find(job_.key_name(), job_.request,
                                           static_cast<std::uint64_t>(now()));
  }
  auto opened = co_await memory_->open(job_.request, choice_.options);
  if (!opened) memory_->release();
  co_return opened;
}

Result<loop::ToolLoop> LoopRun::make_loop(std::optional<loop::State> state) {
  Request request = session_.begin_loop(id_);
  request.stream = true;         // tools start early, whatever the client wants
  request.include_usage = true;  // of every round
  choice_.options.id_seed = host_.mint.next();
  const tool::ToolHost* const tools = host_.world.tools;
  const auto catalogue = tools == nullptr ? nullptr : tools->catalogue();
  loop::ArgumentCheck check = [catalogue](const loop::Tool& tool, std::string_view arguments) {
    return catalogue == nullptr ? Result<void>() : catalogue->check(tool.spec.name, arguments);
  };
  loop::ClientSink* client = &session_;
  if (memory_ != nullptr) client = &held_end_;
  return loop::ToolLoop::make(std::move(request), std::move(choice_.options),
                              std::move(choice_.tools), *client, std::move(check),
                              std::move(state));
}

bool LoopRun::failed() const {
  if (!finish_) return !returned_;
  return finish_->reason == FinishReason::upstream_error;
}

net::Task<bool> LoopRun::drive() {
  LoopSight sight{.id = id_,
                  .request = job_.request_id,
                  .key = std::string(job_.key_name()),
                  .model = model().name,
                  .started_at = net::unix_ms()};
  entry_.emplace(host_.world.loops, host_.loop, std::move(sight),
                 [this](const LoopCommand& command) { steer(command); });
  audience_.begin_loop();
  hooks_.loop_started();
  tool_loop_->start(now());
  for (const LoopCommand& command : std::exchange(early_, {})) steer(command);
  for (;;) {
    if (audience_.is_gone()) tool_loop_->cancel(now());
    // What an upstream must keep of a turn is kept before anything follows it.
    if (turn_ == nullptr || !turn_->round.is_settling()) perform_all();
    if (audience_.is_gone()) {
      perform_all();
      co_return false;
    }
    if (finish_ || returned_) co_return true;
    show();
    if (session_.waits()) {
      const bool sent = co_await session_.send();
      if (!sent || session_.is_denied()) tool_loop_->cancel(now());
      if (turn_ != nullptr) turn_->go.notify();
      continue;
    }
    if (next_call_) {
      co_await store_step();
      continue;
    }
    const auto wait = next_deadline();
    if (!wait || wait->count() > 0) (void)co_await news_.wait(wait.value_or(net::kNever));
    tool_loop_->on_time(now());
    if (const auto due = session_.patience(host_.loop.now()); due && due->count() == 0) {
      (void)co_await session_.on_time();
      if (const auto why = session_.objection()) stop(*why);
    }
  }
}

// Nothing of it may go on: a turn of the model fails, tools are cancelled.
void LoopRun::stop(const Error& why) {
  given_up_ = why;
  if (turn_ != nullptr) tool_loop_->fail_turn(turn_->asked.turn, why, now());
  if (summary_ != nullptr) tool_loop_->fail_turn(summary_->waits.turn, why, now());
  if (!runs_.empty()) tool_loop_->cancel(now());
}

std::optional<net::Millis> LoopRun::next_deadline() {
  std::optional<net::Millis> least = session_.patience(host_.loop.now());
  if (const auto deadline = tool_loop_->deadline()) {
    const net::Millis wait(std::max<loop::Millis>(1, *deadline - now()));
    least = std::min(least.value_or(wait), wait);
  }
  return least;
}

void LoopRun::perform_all() {
  for (auto actions = tool_loop_->take_actions(); !actions.empty();
       actions = tool_loop_->take_actions()) {
    for (loop::Action& action : actions) perform(action);
  }
}

void LoopRun::perform(loop::Action& action) {
  std::visit(Overloaded{
                 [&](loop::CallModel& call) { call_model(call); },
                 [&](const loop::StopModel&) { drop_turn(); },
                 [&](loop::RunTool& run) {
                   session_.open();
                   run_tool(run);
                 },
                 [&](const loop::CancelTool& cancel) { cancel_tool(cancel.run); },
                 [&](const loop::WaitForApproval& wait) {
                   session_.announce(wait);
                   hooks_.waits(wait);
                 },
                 [&](const loop::ReturnToClient& back) {
                   returned_ = true;
                   rounds_.usage = back.usage;
                   keep_state(back);
                 },
                 [&](loop::Finish& finish) {
                   rounds_.usage = finish.usage;
                   if (finish.error) error_ = *finish.error;
                   finish_ = std::move(finish);
                 },
             },
             action);
}

void LoopRun::keep_state(const loop::ReturnToClient& back) {
  if (memory_ != nullptr) return memory_->give_back(back);
  host_.world.loop_states.keep(job_.key_name(), back, static_cast<std::uint64_t>(now()));
}

net::Task<> LoopRun::store_step() {
  const auto saved = co_await memory_->save();
  loop::CallModel call = std::move(*next_call_);
  next_call_.reset();
  if (saved) co_return start_turn(std::move(call));
  given_up_ = saved.error();
  tool_loop_->fail_turn(call.turn, saved.error(), now());
}

net::Task<> LoopRun::store_end() {
  // What was denied is not remembered.
  if (finish_ && !session_.is_denied()) memory_->finish(*finish_);
  const auto saved = co_await memory_->save();
  memory_->release();
  if (saved || failed()) co_return held_end_.release();
  error_ = saved.error();
  if (!finish_) finish_.emplace();
  finish_->end = loop::End::error;
  finish_->reason = FinishReason::upstream_error;
  held_end_.fail();
}

void LoopRun::steer(const LoopCommand& command) {
  if (!tool_loop_) return early_.push_back(command);
  switch (command.kind) {
    case LoopCommand::Kind::cancel:
      tool_loop_->cancel(now());
      break;
    case LoopCommand::Kind::inject:
      tool_loop_->inject(command.text);
      break;
    case LoopCommand::Kind::system_prompt:
      tool_loop_->set_system_prompt(command.text);
      break;
    case LoopCommand::Kind::approve:
      tool_loop_->approve(command.run, now());
      break;
    case LoopCommand::Kind::deny:
      tool_loop_->deny(command.run, command.text, now());
      break;
  }
  news_.notify();
}

void LoopRun::show() {
  std::vector<std::string> running;
  for (const auto& [id, run] : runs_) running.push_back(run->name);
  entry_->show(tool_loop_->rounds(), tool_loop_->calls_made(), std::move(running),
               tool_loop_->approvals());
}

tool::ToolContext LoopRun::tool_context() const {
  return {.request_id = job_.request_id,
          .key_name = std::string(job_.key_name()),
          .model = model().name,
          .session = session()};
}

std::string LoopRun::session() const {
  return job_.session.empty() ? choice_.conversation : job_.session;
}

net::Task<> LoopRun::end(bool stayed) {
  std::string reason;
  if (returned_) reason = std::string(kReasonPrefix) + "returned";
  if (finish_) reason = std::string(kReasonPrefix) + std::string(loop::to_string(finish_->end));
  if (!reason.empty()) {
    const std::string_view end = std::string_view(reason).substr(kReasonPrefix.size());
    observe_loop(host_.world, model().name, end);
    hooks_.round_ended(round_.value_or(0));
    hooks_.loop_ended(
        {.reason = end, .rounds = tool_loop_->rounds(), .calls = tool_loop_->calls_made()});
  }
  if (round_log_.has_rounds()) log_.record().rounds(round_log_.print());
  // How a stream ends can only be in its last frame, unless nothing of it has left.
  if (!reason.empty() && !audience_.has_started()) {
    audience_.headers().add("x-callgate-loop-end", reason.substr(kReasonPrefix.size()));
  }
  AnswerSession::LoopEnd loop{.estimate = usage_estimate_, .summary = rounds_, .cut = reason};
  loop.summary.reason = returned_ ? FinishReason::tool_calls : FinishReason::stop;
  if (finish_) loop.summary.reason = finish_->reason;
  if (!failed()) loop.summary.known_reason = loop.summary.reason;
  if (loop.summary.usage == Usage{}) loop.summary.usage.reset();
  Round::End how = failed() ? Round::End::broken : Round::End::ended;
  if (!stayed) how = Round::End::gone;
  co_await session_.end_loop(how, error_, std::move(loop));
}

}  // namespace callgate::server
