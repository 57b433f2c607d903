#include "server/loop_turn.h"

#include <algorithm>

#include "engine/answer_notes.h"
#include "server/attempt.h"
#include "server/event_stream.h"
#include "server/observe.h"

namespace callgate::server {
namespace {

LoopWork work_of(Ask& ask, const Protocol& protocol, Request request, const Snapshot::Model& model,
                 DialectChoice dialect, const RequestOptions& options, LoopChoice choice,
                 std::shared_ptr<Capture> capture) {
  LoopWork work;
  work.snapshot = ask.snapshot;
  work.key = ask.key;
  work.request_id = ask.id;
  work.session = session_of(ask.exchange.head().headers);
  work.peer = ask.exchange.peer();
  work.started_ms = ask.started_ms;
  work.received = std::move(ask.received);
  work.received_bytes = ask.received_bytes;
  work.protocol = protocol.name;
  work.request = std::move(request);
  work.model = model;
  work.dialect = dialect;
  work.options = options;
  work.choice = std::move(choice);
  work.capture = std::move(capture);
  return work;
}

}  // namespace

LoopTurn::LoopTurn(Gateway& gateway, Ask& ask, Request request, const Snapshot::Model& model,
                   DialectChoice dialect, const RequestOptions& options, const Protocol& protocol,
                   LoopChoice choice)
    : gateway_(gateway),
      ask_(ask),
      protocol_(protocol),
      stream_(request.stream),
      include_usage_(!request.stream || request.include_usage),
      options_(options),
      coalesce_(model.config->reasoning_coalesce),
      keepalive_(wants_keepalive(ask.exchange.head().headers)),
      capture_(std::move(ask.capture)),
      run_(gateway,
           work_of(ask, protocol, std::move(request), model, dialect, options, std::move(choice),
                   capture_),
           ask.exchange.head().headers, *this),
      client_(run_.request(),
              make_identity(gateway.mint_, run_.request(), options.policy.reasoning), protocol,
              options.policy, ask.snapshot->config.limits.max_held_back.count, run_.max_logged(),
              run_.id()) {
  ask_.headers.add("x-callgate-loop", run_.id());
}

net::Task<> LoopTurn::run() {
  ask_.in_turn = true;
  ask_.exchange.on_client_gone([this] { run_.notify(); });
  const bool stayed = co_await run_.run();
  ask_.exchange.on_client_gone({});
  LoopRun::Delivery delivery;
  delivery.how = TurnEnd::How::gone;
  delivery.status = ask_.exchange.started() ? 200 : 0;
  if (stayed) co_await deliver(delivery);
  if (run_.max_logged() > 0 && delivery.how != TurnEnd::How::failed) {
    delivery.kept = client_.kept(answer_end());
  }
  delivery.bytes_out = bytes_out_;
  delivery.reason = client_.summary().reason;
  delivery.known_reason = client_.summary().known_reason;
  run_.record_end(std::move(delivery));
}

void LoopTurn::accept(const Event& event) {
  client_.accept(event);
  if (coalesce_.count() == 0 || client_.held_reasoning() == held_) return;
  held_ = client_.held_reasoning();
  held_until_ = gateway_.loop_.now() + static_cast<std::uint64_t>(coalesce_.count());
}

net::Millis LoopTurn::patience() const {
  std::optional<std::uint64_t> due;
  if (silence() > 0 && ask_.exchange.started()) due = last_write_ + silence();
  if (held_) due = std::min(due.value_or(held_until_), held_until_);
  if (!due) return net::kNever;
  const std::uint64_t now = gateway_.loop_.now();
  return net::Millis(*due > now ? *due - now : 1);
}

net::Task<> LoopTurn::on_time() {
  if (held_ && gateway_.loop_.now() >= held_until_) {
    client_.release_reasoning();
    held_.reset();
  }
  if (silence() == 0 || !ask_.exchange.started()) co_return;
  if (gateway_.loop_.now() < last_write_ + silence()) co_return;
  last_write_ = gateway_.loop_.now();
  if (capture_) capture_->client_got_comment(kKeepAlive);
  (void)co_await ask_.exchange.write(kKeepAlive);
}

std::uint64_t LoopTurn::silence() const {
  if (!keepalive_) return 0;
  return static_cast<std::uint64_t>(ask_.snapshot->config.limits.keepalive_comment.count());
}

void LoopTurn::start_stream() {
  if (ask_.exchange.started()) return;
  add_event_stream_headers(ask_.headers);
  ask_.exchange.start(200, ask_.headers);
  if (capture_) capture_->client_got(200, ask_.headers, "");
}

net::Task<bool> LoopTurn::send() {
  start_stream();
  sending_.clear();
  std::swap(sending_, client_.out());
  run_.wrote();
  if (capture_) capture_->client_got(sending_);
  const auto written = co_await ask_.exchange.write(sending_);
  bytes_out_ += sending_.size();
  last_write_ = gateway_.loop_.now();
  co_return written.has_value();
}

net::Task<> LoopTurn::deliver(LoopRun::Delivery& delivery) {
  const bool nothing_sent = !ask_.exchange.started() && (!stream_ || !client_.started());
  if (run_.failed() && nothing_sent) {
    delivery.how = TurnEnd::How::failed;
    delivery.status = client::status_of(run_.error());
    delivery.body = protocol_.error_body(run_.error());
    if (capture_) capture_->client_got(delivery.status, ask_.headers, delivery.body);
    co_return co_await gateway_.refuse(ask_, run_.error());
  }
  if (run_.failed()) {
    client_.fail(run_.error());
  } else {
    client_.finish(answer_end());
  }
  std::string& out = client_.out();
  bytes_out_ += out.size();
  delivery.status = 200;
  Result<void> written;
  if (stream_) {
    start_stream();
    run_.wrote();
    if (capture_) capture_->client_got(out);
    written = co_await ask_.exchange.end(out);
  } else {
    ask_.headers.add("content-type", "application/json");
    add_counters(ask_.headers, summary(), options_.policy);
    delivery.body = out;
    if (capture_) capture_->client_got(200, ask_.headers, out);
    written = co_await ask_.exchange.respond(200, ask_.headers, out);
  }
  if (written) delivery.how = TurnEnd::How::answered;
}

TurnSummary LoopTurn::summary() const {
  TurnSummary summary = client_.summary();
  summary.usage_estimated = include_usage_ && run_.usage_estimate().has_value();
  return summary;
}

AnswerEnd LoopTurn::answer_end() const {
  AnswerEnd end;
  if (include_usage_) end.estimate = run_.usage_estimate();
  if (options_.policy.trailing_counters) {
    end.counters = engine::print_counters(summary(), options_.policy);
  }
  if (options_.timing) {
    const auto elapsed = static_cast<std::int64_t>(run_.elapsed_ms());
    const auto first = static_cast<std::int64_t>(run_.first_token_ms().value_or(elapsed));
    end.timing = {first, elapsed};
  }
  return end;
}

}  // namespace callgate::server
