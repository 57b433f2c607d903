#include "server/loop_round.h"

#include <algorithm>

#include "chat/usage.h"
#include "dial/grace_timer.h"
#include "dial/silence.h"
#include "engine/answer_notes.h"
#include "engine/client_stages.h"
#include "server/attempt.h"
#include "server/observe.h"

// After every wait the run may be gone: `round->run` says so, and nothing of it is touched then.
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
}

}  // namespace

net::Task<> LoopRun::play(std::shared_ptr<Round> round) {
  LoopRun& self = *round->run;
  const std::vector<std::string>& names = self.model().upstream;
  // A second try of a turn begins with the next upstream.
  const std::size_t first = round->asked.retry ? 1 : 0;
  for (std::size_t tried = 0;; ++tried) {
    const std::string& name = names[(first + tried) % names.size()];
    const UpstreamConfig& upstream = *round->snapshot->config.find_upstream(name);
    const Result<void> done = co_await ask_upstream(round, upstream);
    if (round->run == nullptr) co_return;
    if (done) break;
    if (round->heard) co_return self.fail_round(*round, done.error());
    const bool same = names[(first + tried + 1) % names.size()] == name;
    const auto pause = pause_after(done.error(), self.model(), tried, same, self.mint_);
    if (!pause) {
      self.given_up_ = done.error();
      co_return self.fail_round(*round, done.error());
    }
    observe_retry(self.world_, self.labels(), name, done.error());
    if (pause->count() > 0) co_await self.loop_.sleep(net::Millis(pause->count()));
    if (round->run == nullptr) co_return;
  }
  round->over = true;
  self.news_.notify();
  std::shared_ptr<UpstreamTarget> target = std::move(round->target);
  std::unique_ptr<UpstreamCall> call = std::move(round->call);
  round.reset();
  co_await read_away(std::move(target), std::move(call));
}

void LoopRun::fail_round(const Round& round, const Error& error) {
  tool_loop_->fail_turn(round.asked.turn, error, now());
  news_.notify();
}

net::Task<Result<void>> LoopRun::ask_upstream(std::shared_ptr<Round> round,
                                              const UpstreamConfig& upstream) {
  LoopRun& self = *round->run;
  ++self.attempts_;
  Result<void> done = co_await attempt(round, upstream);
  if (done || round->run == nullptr || round->heard) co_return done;
  const TurnLabels labels = self.labels();
  const Asked asked{upstream, self.model(), labels.dialect, round->as_text};
  if (!learn_text_only(self.world_, *round->snapshot, asked, done.error())) co_return done;
  observe_retry(self.world_, labels, upstream.name, done.error());
  ++self.attempts_;
  co_return co_await attempt(round, upstream);
}

net::Task<Result<void>> LoopRun::attempt(std::shared_ptr<Round> round,
                                         const UpstreamConfig& upstream) {
  LoopRun& self = *round->run;
  const Request& request = round->asked.request;
  self.upstream_ = upstream.name;
  std::optional<engine::TextTools> text;
  if (!request.tools.empty()) {
    text =
        text_tools_for(upstream, self.model(), self.labels().dialect, round->snapshot->text_only);
  }
  round->as_text = text.has_value();
  auto encoded = encode_for(upstream, self.model(), self.work_.model.rules, text, request);
  if (!encoded) co_return tl::unexpected(encoded.error());
  const auto target = self.gateway_.targets_.find(upstream.name);
  if (target == nullptr) {
    Error missing{.code = ErrorCode::unavailable,
                  .message = "upstream \"" + upstream.name + "\" is not configured any more"};
    co_return tl::unexpected(std::move(missing));
  }
  self.trace_.begin_attempt(upstream, encoded->request.headers);
  round->begin_call(target, upstream);
  const Origin origin{.prompt = encoded->prepared ? *encoded->prepared : request,
                      .key_name = self.key_name(),
                      .session = self.work_.session,
                      .request = self.work_.request_id};
  round->call->set_origin(origin);
  const auto sent = co_await round->wire().send(request, encoded->request);
  if (round->run == nullptr) co_return Result<void>();
  Result<void> done;
  if (!sent) {
    done = tl::unexpected(sent.error());
  } else if (round->call->status() >= 300 || round->call->status() < 200) {
    Error refusal = co_await read_refusal(round->wire(), upstream, encoded->request.path);
    done = tl::unexpected(std::move(refusal));
  } else {
    done = co_await relay(round, upstream);
  }
  if (round->run == nullptr) co_return done;
  self.record_.sent(std::move(encoded->request.body));
  if (std::string own = round->call->take_sent(); !own.empty()) self.record_.sent(std::move(own));
  const Error* error = done ? nullptr : &done.error();
  self.trace_.end_attempt(sent ? round->call->status() : 0, error);
  observe_upstream(self.world_, upstream.name, error);
  co_return done;
}

// Before the loop hears of the turn's end: it may be the end of the answer.
void LoopRun::count_usage(const Round& round, const TurnSummary& summary) {
  const bool estimated = !engine::is_stated(summary.usage) && work_.options.policy.estimate_usage;
  if (estimated) {
    add_usage(usage_, engine::complete_usage(engine::prompt_bytes(round.asked.request), summary));
  } else if (summary.usage) {
    add_usage(usage_, *summary.usage);
  }
  if (estimated || usage_estimate_) usage_estimate_ = usage_;
}

// What belongs to the client's side stays off: the loop needs all that the model says.
PipelineOptions LoopRun::round_options(const Round& round, const WireFormat& wire,
                                       UpstreamCall& call) {
  PipelineOptions options =
      reading_options(wire, model(), work_.snapshot->config.limits, call, mint_);
  options.protocol = "openai_chat";
  options.dialect = work_.dialect.dialect;
  options.text_calls = may_write_calls(work_.dialect.dialect, work_.snapshot->habits, upstream_,
                                       model().name, round.as_text);
  options.dialect_is_default = work_.dialect.is_default;
  const PolicyOptions& asked = work_.options.policy;
  options.policy.stop_after_tools = asked.stop_after_tools;
  options.policy.suppress_tail_after_tools =
      asked.suppress_tail_after_tools || asked.output == CallOutput::json;
  options.policy.call_whitespace =
      asked.call_whitespace && !engine::calls_become_text(asked.output);
  options.policy.dedupe_calls = asked.dedupe_calls;
  options.policy.invalid_arguments = asked.invalid_arguments;
  options.policy.call_id_style = asked.call_id_style;
  options.policy.error_after_tools = asked.error_after_tools;
  options.policy.tool_call_max = 0;  // the loop has limits of its own
  options.policy.estimate_usage = false;
  options.observer = &observer_;
  return options;
}

net::Task<Result<void>> LoopRun::relay(std::shared_ptr<Round> round,
                                       const UpstreamConfig& upstream) {
  LoopRun& self = *round->run;
  UpstreamCall& call = round->wire();
  PipelineOptions options = self.round_options(*round, wire_of(upstream), call);
  if (round->capture) round->capture->begin_round(round->asked.request, options);
  const Dialect* const read_as = options.dialect;
  options.sink = round.get();
  ExplainLog explain(self.world_, self.labels());
  if (explain.is_wanted()) options.explain = &explain;
  auto made = Pipeline::make(round->asked.request, std::move(options));
  if (!made) co_return tl::unexpected(made.error());
  Pipeline pipeline = std::move(*made);
  round->pipeline = &pipeline;
  GraceTimer grace(self.model().stop_after_tools_grace);
  Silence silence(upstream);
  bool gave_up = false;
  std::string nothing;
  while (!pipeline.finished()) {
    const auto left = grace.left(pipeline.grace(), self.loop_.now());
    const auto silent = silence.left(pipeline);
    const bool cut = left && left->count() == 0;
    const bool over = silent && silent->count() == 0;
    net::Millis patience = left.value_or(net::kNever);
    if (silent) patience = left ? std::min(*left, *silent) : *silent;
    const std::uint64_t asked = self.loop_.now();
    Result<UpstreamCall::Piece> piece;
    if (!cut && !over) piece = co_await call.read(patience);
    if (round->run == nullptr) co_return Result<void>();
    silence.add(self.loop_.now() - asked, piece && !piece->bytes.empty());
    self.tool_loop_->on_time(self.now());
    if (cut) {
      pipeline.cut(nothing);
      if (round->capture) round->capture->cut();
    } else if (over) {
      gave_up = true;
      pipeline.fail(silence.error(), nothing);
      if (round->capture) round->capture->gave_up(silence.error());
    } else if (piece && piece->waiting) {
      continue;
    } else if (!piece) {
      pipeline.fail(piece.error(), nothing);
    } else if (piece->bytes.empty()) {
      pipeline.finish(nothing);
    } else {
      if (!self.first_byte_ms_) {
        self.first_byte_ms_ = self.elapsed_ms();
      }
      pipeline.push(piece->bytes, nothing);
    }
    self.news_.notify();
    // Nothing is read that the client cannot take yet.
    const bool waits = !pipeline.finished() && self.audience_.waits();
    if (waits) (void)co_await round->go.wait();
    if (round->run == nullptr) co_return Result<void>();
  }
  add_round(self.rounds_, pipeline.summary());
  learn_calls(read_as, pipeline.summary(), self.upstream_, self.model().name,
              self.work_.snapshot->habits, self.world_.log);
  if (pipeline.error()) co_return tl::unexpected(*pipeline.error());
  round->settling = true;
  co_await call.settle();
  round->settling = false;
  if (pipeline.cut_short() || gave_up)
    call.cancel();  // nobody wants what the upstream is still writing
  co_return Result<void>();
}

}  // namespace callgate::server
