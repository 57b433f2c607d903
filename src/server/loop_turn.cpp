#include "server/loop_turn.h"

#include <algorithm>
#include <chrono>

#include "server/attempt.h"
#include "server/loop_round.h"
#include "server/observe.h"

namespace callgate::server {
namespace {

constexpr std::string_view kKeepAlive = ": keep-alive\n\n";

ResponseIdentity identity_of(IdMint& mint, const Request& request, const PolicyOptions& policy) {
  return {.id = mint.mint("chatcmpl-", 29),
          .model = request.model,
          .created = unix_milliseconds() / 1000,
          .reasoning_field =
              policy.reasoning == ReasoningForm::reasoning ? "reasoning" : "reasoning_content"};
}

}  // namespace

LoopTurn::LoopTurn(Gateway& gateway, Ask& ask, Request request, const Snapshot::Model& model,
                   DialectChoice dialect, const RequestOptions& options, const Protocol& protocol,
                   LoopChoice choice)
    : gateway_(gateway),
      ask_(ask),
      request_(std::move(request)),
      model_(*model.config),
      rules_(model.rules),
      options_(options),
      protocol_(protocol),
      dialect_(dialect),
      choice_(std::move(choice)),
      stream_(request_.stream),
      id_(gateway.mint_.mint("loop_")),
      news_(gateway.loop_),
      trace_(gateway.world_, gateway.mint_, ask.exchange.head().headers, subject()),
      record_(ask.snapshot->mask, max_logged(ask, *model.config)),
      client_(request_, identity_of(gateway.mint_, request_, options.policy), protocol,
              options.policy.reasoning, record_.max_answer(), id_) {
  record_.observer(trace_.observer());
  ask_.headers.add("x-callgate-loop", id_);
}

LoopTurn::~LoopTurn() {
  entry_.reset();
  drop_round();
  while (!runs_.empty()) cancel_tool(runs_.begin()->first);
}

net::Task<> LoopTurn::run() {
  ask_.in_turn = true;
  record_begin();
  choice_.options.id_seed = gateway_.mint_.next();
  auto state =
      gateway_.world_.loop_states.find(key_name(), request_, static_cast<std::uint64_t>(now()));
  const auto catalogue =
      gateway_.world_.tools == nullptr ? nullptr : gateway_.world_.tools->catalogue();
  loop::ArgumentCheck check = [catalogue](const loop::Tool& tool, std::string_view arguments) {
    return catalogue == nullptr ? Result<void>() : catalogue->check(tool.spec.name, arguments);
  };
  auto made =
      loop::ToolLoop::make(std::move(request_), std::move(choice_.options),
                           std::move(choice_.tools), client_, std::move(check), std::move(state));
  TurnEnd::How how = TurnEnd::How::failed;
  if (!made) {
    error_ = made.error();
  } else {
    loop_.emplace(std::move(*made));
    const LoopGauge gauge(gateway_.world_);
    ask_.exchange.on_client_gone([this] { news_.notify(); });
    const bool stayed = co_await drive();
    ask_.exchange.on_client_gone({});
    entry_.reset();
    how = TurnEnd::How::gone;
    if (stayed) how = co_await deliver();
  }
  if (how == TurnEnd::How::failed) {
    status_ = client::status_of(error_);
    co_await gateway_.refuse(ask_, error_);
    record_.responded(protocol_.error_body(error_));
  }
  record_end(how);
}

net::Task<bool> LoopTurn::drive() {
  LoopSight sight{.id = id_,
                  .request = ask_.id,
                  .key = std::string(key_name()),
                  .model = model_.name,
                  .started_at = unix_milliseconds()};
  entry_.emplace(gateway_.world_.loops, gateway_.loop_, std::move(sight),
                 [this](const LoopCommand& command) { steer(command); });
  loop_->start(now());
  for (;;) {
    if (ask_.exchange.client_gone()) loop_->cancel(now());
    // What an upstream must keep of a round is kept before anything follows it.
    if (round_ == nullptr || !round_->settling) perform_all();
    if (ask_.exchange.client_gone()) {
      perform_all();
      co_return false;
    }
    if (finish_ || returned_) co_return true;
    show();
    if (stream_ && !client_.out().empty()) {
      const bool sent = co_await send();
      if (!sent) loop_->cancel(now());
      if (round_ != nullptr) round_->go.notify();
      continue;
    }
    const bool told = co_await news_.wait(patience());
    loop_->on_time(now());
    if (!told) (void)co_await keep_alive();
  }
}

void LoopTurn::perform_all() {
  for (auto actions = loop_->take_actions(); !actions.empty(); actions = loop_->take_actions()) {
    for (loop::Action& action : actions) perform(action);
  }
}

void LoopTurn::perform(loop::Action& action) {
  std::visit(Overloaded{
                 [&](loop::CallModel& call) { call_model(call); },
                 [&](const loop::StopModel&) { drop_round(); },
                 [&](loop::RunTool& run) { run_tool(run); },
                 [&](const loop::CancelTool& cancel) { cancel_tool(cancel.run); },
                 [](const loop::WaitForApproval&) {},  // show() tells
                 [&](const loop::ReturnToClient& back) {
                   returned_ = true;
                   rounds_.usage = back.usage;
                   gateway_.world_.loop_states.keep(key_name(), back,
                                                    static_cast<std::uint64_t>(now()));
                 },
                 [&](loop::Finish& finish) {
                   rounds_.usage = finish.usage;
                   if (finish.error) error_ = *finish.error;
                   finish_ = std::move(finish);
                 },
             },
             action);
}

void LoopTurn::call_model(loop::CallModel& call) {
  if (call.retry && given_up_) return loop_->fail_turn(call.turn, *given_up_, now());
  drop_round();
  round_ = std::make_shared<Round>(*this, std::move(call));
  gateway_.loop_.spawn(play(round_));
}

void LoopTurn::drop_round() {
  if (round_ == nullptr) return;
  round_->turn = nullptr;
  if (round_->call != nullptr && !round_->over) round_->call->cancel();
  round_->go.notify();
  round_.reset();
}

void LoopTurn::run_tool(loop::RunTool& asked) {
  tool::ToolCall call;
  call.id = std::move(asked.call_id);
  call.name = std::move(asked.name);
  call.arguments = std::move(asked.arguments);
  call.context = {.request_id = ask_.id,
                  .key_name = std::string(key_name()),
                  .model = model_.name,
                  .session = std::string(session_of(ask_.exchange.head().headers))};
  const auto run = std::make_shared<Run>();
  run->turn = this;
  run->id = asked.run;
  run->name = call.name;
  runs_[asked.run] = run;
  const net::Millis timeout(std::max<loop::Millis>(1, asked.deadline - now()));
  gateway_.loop_.spawn(
      play_tool(run, *gateway_.world_.tools, gateway_.loop_, std::move(call), timeout));
}

net::Task<> LoopTurn::play_tool(std::shared_ptr<Run> run, tool::ToolHost& host, net::Loop& loop,
                                tool::ToolCall call, net::Millis timeout) {
  tool::ToolResult result = co_await host.run(loop, std::move(call), timeout, run->cancel);
  if (run->turn != nullptr) run->turn->finish_run(*run, std::move(result));
}

void LoopTurn::cancel_tool(loop::RunId id) {
  const auto found = runs_.find(id);
  if (found == runs_.end()) return;
  const std::shared_ptr<Run> run = found->second;
  runs_.erase(found);
  run->turn = nullptr;
  run->cancel.cancel();
  observe_tool_run(gateway_.world_, run->name, "cancelled", std::nullopt);
}

void LoopTurn::finish_run(Run& run, tool::ToolResult result) {
  observe_tool_run(gateway_.world_, run.name, result.is_error ? "error" : "ok", result.duration);
  loop::ToolResult given{
      .text = std::move(result.text), .is_error = result.is_error, .truncated = result.truncated};
  const loop::RunId id = run.id;
  runs_.erase(id);
  loop_->finish_run(id, std::move(given), now());
  news_.notify();
}

void LoopTurn::steer(const LoopCommand& command) {
  switch (command.kind) {
    case LoopCommand::Kind::cancel:
      loop_->cancel(now());
      break;
    case LoopCommand::Kind::inject:
      loop_->inject(command.text);
      break;
    case LoopCommand::Kind::system_prompt:
      loop_->set_system_prompt(command.text);
      break;
    case LoopCommand::Kind::approve:
      loop_->approve(command.run, now());
      break;
    case LoopCommand::Kind::deny:
      loop_->deny(command.run, command.text, now());
      break;
  }
  news_.notify();
}

void LoopTurn::show() {
  std::vector<std::string> running;
  for (const auto& [id, run] : runs_) running.push_back(run->name);
  entry_->show(loop_->rounds(), loop_->calls_made(), std::move(running), loop_->approvals());
}

// Until the next deadline of the loop, or until a silent client should hear something.
net::Millis LoopTurn::patience() const {
  loop::Millis least = 0;
  const auto consider = [&](loop::Millis wait) {
    wait = std::max<loop::Millis>(1, wait);
    if (least == 0 || wait < least) least = wait;
  };
  if (const auto deadline = loop_->deadline()) consider(*deadline - now());
  const loop::Millis silence = ask_.snapshot->config.limits.keepalive_comment.count();
  if (silence > 0 && ask_.exchange.started()) {
    consider(static_cast<loop::Millis>(last_write_) + silence - now());
  }
  return net::Millis(least);
}

net::Task<bool> LoopTurn::keep_alive() {
  const auto silence =
      static_cast<std::uint64_t>(ask_.snapshot->config.limits.keepalive_comment.count());
  const bool wanted = ask_.exchange.head().headers.find("x-no-keepalive").value_or("") != "1";
  if (!ask_.exchange.started() || silence == 0) co_return true;
  if (gateway_.loop_.now() < last_write_ + silence) co_return true;
  last_write_ = gateway_.loop_.now();
  if (!wanted) co_return true;
  const auto written = co_await ask_.exchange.write(kKeepAlive);
  co_return written.has_value();
}

void LoopTurn::start_stream() {
  if (ask_.exchange.started()) return;
  ask_.headers.add("content-type", "text/event-stream; charset=utf-8");
  ask_.headers.add("cache-control", "no-cache");
  ask_.headers.add("x-accel-buffering", "no");
  ask_.exchange.start(200, ask_.headers);
  status_ = 200;
}

net::Task<bool> LoopTurn::send() {
  start_stream();
  if (!first_token_ms_) first_token_ms_ = gateway_.loop_.now() - ask_.started_ms;
  sending_.clear();
  std::swap(sending_, client_.out());
  trace_.wrote();
  const auto written = co_await ask_.exchange.write(sending_);
  bytes_out_ += sending_.size();
  last_write_ = gateway_.loop_.now();
  co_return written.has_value();
}

net::Task<TurnEnd::How> LoopTurn::deliver() {
  const bool failed = finish_ && finish_->reason == FinishReason::upstream_error;
  if (failed && !ask_.exchange.started() && (!stream_ || !client_.started())) {
    co_return TurnEnd::How::failed;
  }
  const AnswerEnd end = answer_end();
  if (failed) {
    client_.fail(error_);
  } else {
    client_.finish(end);
  }
  std::string& out = client_.out();
  bytes_out_ += out.size();
  Result<void> written;
  if (stream_) {
    start_stream();
    trace_.wrote();
    written = co_await ask_.exchange.end(out);
  } else {
    status_ = 200;
    ask_.headers.add("content-type", "application/json");
    record_.responded(out);
    written = co_await ask_.exchange.respond(200, ask_.headers, out);
  }
  if (!written) co_return TurnEnd::How::gone;
  co_return TurnEnd::How::answered;
}

AnswerEnd LoopTurn::answer_end() const {
  AnswerEnd end;
  if (options_.timing) {
    const auto elapsed = static_cast<std::int64_t>(gateway_.loop_.now() - ask_.started_ms);
    end.timing = {static_cast<std::int64_t>(first_token_ms_.value_or(elapsed)), elapsed};
  }
  return end;
}

loop::Millis LoopTurn::now() const { return static_cast<loop::Millis>(gateway_.loop_.now()); }

std::string_view LoopTurn::key_name() const {
  return ask_.key == nullptr ? std::string_view() : ask_.key->config.name;
}

std::string_view LoopTurn::dialect_name() const {
  return dialect_.dialect == nullptr ? "native" : dialect_.dialect->name;
}

TurnSubject LoopTurn::subject() const {
  return {.request = ask_.id,
          .key = key_name(),
          .model = model_.name,
          .model_id = model_.id.empty() ? model_.name : model_.id,
          .dialect = dialect_name(),
          .stream = stream_,
          .waited = Milliseconds(gateway_.loop_.now() - ask_.started_ms)};
}

TurnLabels LoopTurn::labels() const {
  return {.request = ask_.id,
          .trace = trace_.trace_text(),
          .model = model_.name,
          .dialect = dialect_name()};
}

void LoopTurn::record_begin() {
  store::RequestRecord record = make_record(ask_, model_, protocol_.name, labels(), stream_);
  record_.begin(record, std::move(ask_.received), request_);
  observe_begin(gateway_.world_, std::move(record));
}

TurnSummary LoopTurn::summary() const {
  TurnSummary all = rounds_;
  const TurnSummary& seen = client_.summary();
  all.reason = seen.reason;
  all.known_reason = seen.known_reason;
  if (all.usage == Usage{}) all.usage.reset();
  return all;
}

void LoopTurn::record_end(TurnEnd::How how) {
  std::string reason = "loop_returned";
  if (finish_) reason = "loop_" + std::string(loop::to_string(finish_->end));
  if (!finish_ && !returned_) reason.clear();
  const TurnSummary all = summary();
  TurnEnd end;
  end.how = how;
  end.error = &error_;
  end.status = status_;
  end.upstream = upstream_;
  end.attempts = attempts_;
  end.bytes_out = bytes_out_;
  end.first_byte_ms = first_byte_ms_;
  end.first_token_ms = first_token_ms_;
  end.total_ms = gateway_.loop_.now() - ask_.started_ms;
  end.cut = reason;
  store::RequestOutcome outcome = make_outcome(ask_, end, all);
  if (record_.keeps_content() && how != TurnEnd::How::failed) {
    record_.ended(client_.kept(answer_end()));
  }
  record_.complete(outcome);
  trace_.end(outcome, all);
  if (!reason.empty()) {
    observe_loop(gateway_.world_, model_.name, std::string_view(reason).substr(5));
  }
  observe_end(gateway_.world_, labels(), std::move(outcome), all);
}

}  // namespace callgate::server
