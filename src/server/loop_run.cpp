#include "server/loop_run.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "net/unix_time.h"
#include "server/loop_round.h"
#include "server/observe.h"

namespace callgate::server {

LoopRun::LoopRun(Gateway& gateway, LoopWork work, const net::Headers& headers,
                 LoopAudience& audience)
    : gateway_(gateway),
      world_(gateway.world_),
      loop_(gateway.loop_),
      mint_(gateway.mint_.next()),
      work_(std::move(work)),
      stream_(work_.request.stream),
      audience_(audience),
      id_(mint_.mint("loop_")),
      news_(gateway.loop_),
      trace_(world_, mint_, headers, subject()),
      record_(work_.snapshot->mask, server::max_logged(*work_.snapshot, work_.key, model())),
      held_end_(audience) {
  if (!work_.choice.conversation.empty()) {
    store::MemoryName name{std::string(key_name()), work_.choice.conversation};
    memory_ =
        std::make_unique<LoopMemory>(world_.memories, world_.conversations.claims, loop_,
                                     std::move(name), work_.choice.options.memory, mint_.next());
  }
  record_.observer(trace_.observer());
}

LoopRun::~LoopRun() {
  entry_.reset();
  drop_round();
  while (!runs_.empty()) cancel_tool(runs_.begin()->first);
}

net::Task<bool> LoopRun::run() {
  record_begin();
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
  const LoopGauge gauge(world_);
  const bool stayed = co_await drive();
  entry_.reset();
  if (memory_ != nullptr) co_await store_end();
  co_return stayed;
}

// What an answer that ended with calls for the client left behind.
net::Task<Result<std::optional<loop::State>>> LoopRun::recall() {
  if (memory_ == nullptr) {
    co_return world_.loop_states.find(key_name(), work_.request, static_cast<std::uint64_t>(now()));
  }
  auto opened = co_await memory_->open(work_.request, work_.choice.options);
  if (!opened) memory_->release();
  co_return opened;
}

Result<loop::ToolLoop> LoopRun::make_loop(std::optional<loop::State> state) {
  work_.choice.options.id_seed = mint_.next();
  work_.request.stream = true;         // tools start early, whatever the client wants
  work_.request.include_usage = true;  // of every round
  const auto catalogue = world_.tools == nullptr ? nullptr : world_.tools->catalogue();
  loop::ArgumentCheck check = [catalogue](const loop::Tool& tool, std::string_view arguments) {
    return catalogue == nullptr ? Result<void>() : catalogue->check(tool.spec.name, arguments);
  };
  loop::ClientSink* client = &audience_;
  if (memory_ != nullptr) client = &held_end_;
  return loop::ToolLoop::make(std::move(work_.request), std::move(work_.choice.options),
                              std::move(work_.choice.tools), *client, std::move(check),
                              std::move(state));
}

bool LoopRun::failed() const {
  if (!finish_) return !returned_;
  return finish_->reason == FinishReason::upstream_error;
}

net::Task<bool> LoopRun::drive() {
  LoopSight sight{.id = id_,
                  .request = work_.request_id,
                  .key = std::string(key_name()),
                  .model = model().name,
                  .started_at = net::unix_ms()};
  entry_.emplace(world_.loops, loop_, std::move(sight),
                 [this](const LoopCommand& command) { steer(command); });
  audience_.started();
  tool_loop_->start(now());
  for (const LoopCommand& command : std::exchange(early_, {})) steer(command);
  for (;;) {
    if (audience_.gone()) tool_loop_->cancel(now());
    // What an upstream must keep of a round is kept before anything follows it.
    if (round_ == nullptr || !round_->settling) perform_all();
    if (audience_.gone()) {
      perform_all();
      co_return false;
    }
    if (finish_ || returned_) co_return true;
    show();
    if (audience_.waits()) {
      const bool sent = co_await audience_.send();
      if (!sent) tool_loop_->cancel(now());
      if (round_ != nullptr) round_->go.notify();
      continue;
    }
    if (next_call_) {
      co_await store_step();
      continue;
    }
    (void)co_await news_.wait(patience());
    tool_loop_->on_time(now());
    co_await audience_.on_time();
  }
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
                 [&](const loop::StopModel&) { drop_round(); },
                 [&](loop::RunTool& run) { run_tool(run); },
                 [&](const loop::CancelTool& cancel) { cancel_tool(cancel.run); },
                 [&](const loop::WaitForApproval& wait) { audience_.wait_for_approval(wait); },
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
  world_.loop_states.keep(key_name(), back, static_cast<std::uint64_t>(now()));
}

void LoopRun::call_model(loop::CallModel& call) {
  if (memory_ != nullptr) memory_->take(call);
  if (call.retry && given_up_) return tool_loop_->fail_turn(call.turn, *given_up_, now());
  drop_round();
  if (memory_ == nullptr || !memory_->unsaved()) return start_round(std::move(call));
  next_call_ = std::move(call);
}

net::Task<> LoopRun::store_step() {
  const auto saved = co_await memory_->save();
  loop::CallModel call = std::move(*next_call_);
  next_call_.reset();
  if (saved) co_return start_round(std::move(call));
  given_up_ = saved.error();
  tool_loop_->fail_turn(call.turn, saved.error(), now());
}

net::Task<> LoopRun::store_end() {
  if (finish_) memory_->finish(*finish_);
  const auto saved = co_await memory_->save();
  memory_->release();
  if (saved || failed()) co_return held_end_.release();
  error_ = saved.error();
  if (!finish_) finish_.emplace();
  finish_->end = loop::End::error;
  finish_->reason = FinishReason::upstream_error;
  held_end_.fail();
}

void LoopRun::start_round(loop::CallModel call) {
  round_ = std::make_shared<Round>(*this, std::move(call));
  loop_.spawn(play(round_));
}

void LoopRun::drop_round() {
  next_call_.reset();
  if (round_ == nullptr) return;
  round_->run = nullptr;
  if (round_->call != nullptr && !round_->over) round_->call->cancel();
  round_->go.notify();
  round_.reset();
}

void LoopRun::run_tool(loop::RunTool& asked) {
  tool::ToolCall call;
  call.id = std::move(asked.call_id);
  call.name = std::move(asked.name);
  call.arguments = std::move(asked.arguments);
  call.context = {.request_id = work_.request_id,
                  .key_name = std::string(key_name()),
                  .model = model().name,
                  .session = session()};
  const auto run = std::make_shared<Run>();
  run->run = this;
  run->id = asked.run;
  run->name = call.name;
  run->call = call.id;
  run->round = tool_loop_->rounds();
  runs_[asked.run] = run;
  const net::Millis timeout(std::max<loop::Millis>(1, asked.deadline - now()));
  loop_.spawn(play_tool(run, *world_.tools, loop_, std::move(call), timeout));
}

net::Task<> LoopRun::play_tool(std::shared_ptr<Run> run, tool::ToolHost& host, net::Loop& loop,
                               tool::ToolCall call, net::Millis timeout) {
  tool::ToolResult result = co_await host.run(loop, std::move(call), timeout, run->cancel);
  if (run->run != nullptr) run->run->finish_run(*run, std::move(result));
}

void LoopRun::cancel_tool(loop::RunId id) {
  const auto found = runs_.find(id);
  if (found == runs_.end()) return;
  const std::shared_ptr<Run> run = found->second;
  runs_.erase(found);
  run->run = nullptr;
  run->cancel.cancel();
  observe_tool_run(world_, run->name, "cancelled", std::nullopt);
}

void LoopRun::finish_run(Run& run, tool::ToolResult result) {
  observe_tool_run(world_, run.name, result.is_error ? "error" : "ok", result.duration);
  record_.call_result(run.call, run.name,
                      {.round = run.round,
                       .is_error = result.is_error,
                       .duration_ms = result.duration.count(),
                       .bytes = static_cast<std::int64_t>(result.text.size()),
                       .text = result.text});
  loop::ToolResult given{
      .text = std::move(result.text), .is_error = result.is_error, .truncated = result.truncated};
  const loop::RunId id = run.id;
  runs_.erase(id);
  tool_loop_->finish_run(id, std::move(given), now());
  news_.notify();
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

// Until the next deadline of the loop, or of the audience.
net::Millis LoopRun::patience() const {
  net::Millis least = audience_.patience();
  if (const auto deadline = tool_loop_->deadline()) {
    const net::Millis wait(std::max<loop::Millis>(1, *deadline - now()));
    if (least == net::kNever || wait < least) least = wait;
  }
  return least;
}

void LoopRun::wrote() {
  if (!first_token_ms_) first_token_ms_ = elapsed_ms();
  trace_.wrote();
}

std::string_view LoopRun::key_name() const {
  return work_.key == nullptr ? std::string_view() : work_.key->config.name;
}

std::string LoopRun::session() const {
  return work_.session.empty() ? work_.choice.conversation : work_.session;
}

std::string_view LoopRun::dialect_name() const {
  return work_.dialect.dialect == nullptr ? "native" : work_.dialect.dialect->name;
}

TurnSubject LoopRun::subject() const {
  return {.request = work_.request_id,
          .key = key_name(),
          .model = model().name,
          .model_id = model().id.empty() ? model().name : model().id,
          .dialect = dialect_name(),
          .stream = stream_,
          .waited = Milliseconds(elapsed_ms())};
}

TurnLabels LoopRun::labels() const {
  return {.request = work_.request_id,
          .trace = trace_.trace_text(),
          .model = model().name,
          .dialect = dialect_name()};
}

void LoopRun::record_begin() {
  store::RequestRecord record = make_record(subject(), model(), work_.protocol);
  record.client_address = work_.peer;
  record.session = session();
  record.trace_id = trace_.trace_text();
  record_.begin(record, std::move(work_.received), work_.request);
  observe_begin(world_, std::move(record));
}

void LoopRun::record_end(Delivery delivery) {
  std::string reason = "loop_returned";
  if (finish_) reason = "loop_" + std::string(loop::to_string(finish_->end));
  if (!finish_ && !returned_) reason.clear();
  TurnSummary all = rounds_;
  all.reason = delivery.reason;
  all.known_reason = delivery.known_reason;
  if (all.usage == Usage{}) all.usage.reset();
  TurnEnd end;
  end.request = work_.request_id;
  end.bytes_in = work_.received_bytes;
  end.how = delivery.how;
  end.error = &error_;
  end.status = delivery.status;
  end.upstream = upstream_;
  end.attempts = attempts_;
  end.bytes_out = delivery.bytes_out;
  end.first_byte_ms = first_byte_ms_;
  end.first_token_ms = first_token_ms_;
  end.total_ms = elapsed_ms();
  end.cut = reason;
  store::RequestOutcome outcome = make_outcome(end, all);
  if (!delivery.body.empty()) record_.responded(delivery.body);
  if (record_.keeps_content() && delivery.how != TurnEnd::How::failed) {
    record_.ended(std::move(delivery.kept));
  }
  record_.complete(outcome);
  trace_.end(outcome, all);
  if (work_.capture) {
    work_.capture->finish(store::to_string(outcome.state),
                          is_suspicious(outcome, all) ? &world_.recent_captures : nullptr);
  }
  if (!reason.empty()) observe_loop(world_, model().name, std::string_view(reason).substr(5));
  observe_end(world_, labels(), std::move(outcome), all);
}

}  // namespace callgate::server
