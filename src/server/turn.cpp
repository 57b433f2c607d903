#include "server/turn.h"

#include <algorithm>
#include <chrono>

#include "dial/grace_timer.h"
#include "server/attempt.h"
#include "server/event_stream.h"
#include "server/observe.h"
#include "server/turn_outcome.h"

namespace callgate::server {

Turn::Turn(Gateway& gateway, Ask& ask, Request request, const Snapshot::Model& model,
           DialectChoice dialect, const RequestOptions& options, const Protocol& protocol)
    : gateway_(gateway),
      ask_(ask),
      request_(std::move(request)),
      model_(*model.config),
      rules_(model.rules),
      options_(options),
      protocol_(protocol),
      dialect_(dialect.dialect),
      dialect_is_default_(dialect.is_default),
      trace_(gateway.world_, gateway.mint_, ask.exchange.head().headers, subject()),
      record_(ask.snapshot->mask, max_logged(*ask.snapshot, ask.key, *model.config)) {
  keepalive_ = wants_keepalive(ask.exchange.head().headers);
}

net::Task<> Turn::run() {
  ask_.in_turn = true;
  record_begin();
  Step step = Step::failed;
  for (std::size_t tried = 0;; ++tried) {
    const std::string& name = model_.upstream[tried % model_.upstream.size()];
    step = co_await ask_upstream(*ask_.snapshot->config.find_upstream(name));
    if (step == Step::no_call) {
      insisted_ = true;
      continue;
    }
    if (step != Step::failed) break;
    const bool same = model_.upstream[(tried + 1) % model_.upstream.size()] == name;
    const auto pause = pause_after(error_, model_, tried, same, gateway_.mint_);
    if (!pause) break;
    observe_retry(gateway_.world_, labels(), name, error_);
    if (pause->count() > 0) co_await gateway_.loop_.sleep(net::Millis(pause->count()));
    if (ask_.exchange.client_gone()) {
      step = Step::gone;
      break;
    }
  }
  if (step == Step::failed) {
    status_ = client::status_of(error_);
    co_await gateway_.refuse(ask_, error_);
    if (ask_.capture) ask_.capture->client_got(status_, ask_.headers, protocol_.error_body(error_));
    record_.responded(protocol_.error_body(error_));
  }
  record_end(step);
}

net::Task<Turn::Step> Turn::ask_upstream(const UpstreamConfig& upstream) {
  ++attempts_;
  const Step step = co_await attempt(upstream);
  if (step != Step::failed) co_return step;
  const Asked asked{upstream, model_, dialect_name(), text_.has_value()};
  if (!learn_text_only(gateway_.world_, *ask_.snapshot, asked, error_)) co_return step;
  observe_retry(gateway_.world_, labels(), upstream.name, error_);
  ++attempts_;
  co_return co_await attempt(upstream);
}

net::Task<Turn::Step> Turn::attempt(const UpstreamConfig& upstream) {
  upstream_ = upstream.name;
  text_.reset();
  if (!request_.tools.empty()) {
    text_ = text_tools_for(upstream, model_, dialect_name(), ask_.snapshot->text_only);
  }
  auto encoded = encode_for(upstream, model_, rules_, text_, request_);
  if (!encoded) {
    error_ = encoded.error();
    co_return Step::failed;
  }
  const std::optional<Request> prepared = std::move(encoded->prepared);
  encoded_ = std::move(encoded->request);
  dropped_ = std::move(encoded->dropped);
  const std::shared_ptr<UpstreamTarget> target = gateway_.targets_.find(upstream.name);
  if (target == nullptr) {
    error_ = {.code = ErrorCode::unavailable,
              .message = "upstream \"" + upstream.name + "\" is not configured any more"};
    co_return Step::failed;
  }
  trace_.begin_attempt(upstream, encoded_->headers);
  std::unique_ptr<UpstreamCall> call = target->call(model_);
  std::string_view key_name;
  if (ask_.key != nullptr) key_name = ask_.key->config.name;
  const Origin origin{.prompt = prepared ? *prepared : request_,
                      .key_name = key_name,
                      .session = session_of(ask_.exchange.head().headers),
                      .request = ask_.id};
  call->set_origin(origin);
  std::optional<CapturedCall> captured;
  if (ask_.capture) captured.emplace(*call, *ask_.capture, upstream);
  UpstreamCall& used = captured ? static_cast<UpstreamCall&>(*captured) : *call;
  ask_.exchange.on_client_gone([&call] { call->cancel(); });
  auto sent = co_await used.send(request_, *encoded_);
  Step step = Step::failed;
  if (!sent) {
    error_ = sent.error();
    if (ask_.exchange.client_gone()) step = Step::gone;
  } else if (call->status() >= 300 || call->status() < 200) {
    error_ = co_await read_refusal(used, upstream, encoded_->path);
    if (ask_.exchange.client_gone()) step = Step::gone;
  } else {
    step = co_await relay(used, upstream);
  }
  ask_.exchange.on_client_gone({});
  if (encoded_) record_.sent(std::move(encoded_->body));
  if (std::string own = call->take_sent(); !own.empty()) record_.sent(std::move(own));
  trace_.end_attempt(sent ? call->status() : 0, step == Step::failed ? &error_ : nullptr);
  if (step == Step::answered) gateway_.loop_.spawn(read_away(target, std::move(call)));
  observe_upstream(gateway_.world_, upstream_, step == Step::failed ? &error_ : nullptr);
  co_return step;
}

bool Turn::wants_call() const {
  const ToolChoice::Mode mode = request_.tool_choice.mode;
  return (text_ || !rules_.prompt_dialect.empty()) &&
         (mode == ToolChoice::Mode::required || mode == ToolChoice::Mode::named);
}

bool Turn::is_held(const Pipeline& pipeline) const {
  return wants_call() && pipeline.summary().calls == 0;
}

void Turn::add_notices() {
  ask_.headers.add("x-callgate-dialect",
                   summary_.settled_on.empty() ? read_as_ : summary_.settled_on);
  // Of the answer only what was dropped before its head is sent can be named: for a whole one that is all.
  std::string dropped = dropped_;
  if (!summary_.dropped.empty()) {
    dropped.append(dropped.empty() ? "" : ", ").append(summary_.dropped);
  }
  if (!dropped.empty()) ask_.headers.add("x-callgate-dropped", dropped);
  if (!conversation_.empty()) ask_.headers.add(kConversationHeader, conversation_);
  if (!session_.empty()) ask_.headers.add(kSessionHeader, session_);
  if (insisted_ && summary_.calls == 0) {
    ask_.headers.add("x-callgate-warning",
                     "the model made no call although tool_choice asks for one");
  }
}

PipelineOptions Turn::pipeline_options(const WireFormat& wire, UpstreamCall& call) const {
  PipelineOptions options =
      reading_options(wire, model_, ask_.snapshot->config.limits, call, gateway_.mint_);
  options.protocol = protocol_.name;
  options.dialect = dialect_;
  options.text_calls =
      may_write_calls(dialect_, ask_.snapshot->habits, upstream_, model_.name, text_.has_value());
  options.dialect_is_default = dialect_is_default_;
  options.policy = options_.policy;
  if (options_.timing) {
    options.elapsed_ms = [this] {
      return static_cast<std::int64_t>(gateway_.loop_.now() - ask_.started_ms);
    };
  }
  return options;
}

net::Task<Turn::Step> Turn::relay(UpstreamCall& call, const UpstreamConfig& upstream) {
  conversation_ = call.header(kConversationHeader);
  session_ = call.header(kSessionHeader);
  PipelineOptions options = pipeline_options(wire_of(upstream), call);
  if (ask_.capture) ask_.capture->made_pipeline(options);
  const Dialect* const read_as = options.dialect;
  read_as_ = read_as == nullptr ? "native" : read_as->name;
  options.observer = record_.observer(trace_.observer());
  options.keep = record_.max_answer();
  ExplainLog explain(gateway_.world_, labels());
  if (explain.is_wanted()) options.explain = &explain;
  auto made = Pipeline::make(request_, std::move(options));
  if (!made) {
    error_ = made.error();
    co_return Step::failed;
  }
  Pipeline pipeline = std::move(*made);
  std::string out;
  gave_up_ = false;
  const bool stayed = co_await pump(call, Silence(upstream), pipeline, out);
  summary_ = pipeline.summary();
  learn_calls(read_as, summary_, upstream_, model_.name, ask_.snapshot->habits,
              gateway_.world_.log);
  co_await call.settle();
  if (stayed && wants_call() && !insisted_ && !pipeline.error() && summary_.calls == 0) {
    co_return Step::no_call;
  }
  Step step = Step::gone;
  if (stayed) step = co_await deliver(call, pipeline, out);
  if (record_.keeps_content() && step != Step::failed) record_.ended(pipeline.kept());
  co_return step;
}

net::Task<bool> Turn::pump(UpstreamCall& call, Silence silence, Pipeline& pipeline,
                           std::string& out) {
  const net::Millis keepalive(
      keepalive_ && request_.stream ? ask_.snapshot->config.limits.keepalive_comment.count() : 0);
  GraceTimer grace(model_.stop_after_tools_grace);
  GraceTimer coalescing(model_.reasoning_coalesce);
  const bool coalesces = model_.reasoning_coalesce.count() > 0;
  while (!pipeline.finished()) {
    auto left = grace.left(pipeline.grace(), gateway_.loop_.now());
    if (left && left->count() == 0) {
      pipeline.cut(out);
      if (ask_.capture) ask_.capture->cut();
      co_return true;
    }
    if (coalesces && !is_held(pipeline)) {
      const auto wait = coalescing.left(pipeline.held_reasoning(), gateway_.loop_.now());
      if (wait && wait->count() == 0) {
        pipeline.release_reasoning(out);
        if (ask_.capture) ask_.capture->release_reasoning();
        const bool sent = co_await send(out);
        if (!sent) co_return false;
        continue;
      }
      if (wait) left = left ? std::min(*left, *wait) : *wait;
    }
    const auto silent = silence.left(pipeline);
    if (silent && silent->count() == 0) {
      give_up(silence.error(), pipeline, out);
      co_return true;
    }
    net::Millis patience = ask_.exchange.started() ? keepalive : net::kNever;
    if (silent && !left && (patience == net::kNever || *silent < patience)) left = silent;
    if (left) patience = silent ? std::min(*left, *silent) : *left;
    const std::uint64_t asked = gateway_.loop_.now();
    auto piece = co_await call.read(patience);
    if (ask_.exchange.client_gone()) co_return false;
    silence.add(gateway_.loop_.now() - asked, piece && !piece->bytes.empty());
    if (!piece) {
      pipeline.fail(piece.error(), out);
      co_return true;
    }
    if (piece->waiting && left) continue;
    if (piece->waiting) {
      if (ask_.capture) ask_.capture->client_got_comment(kKeepAlive);
      if (auto written = co_await ask_.exchange.write(kKeepAlive); !written) co_return false;
      continue;
    }
    if (piece->bytes.empty()) {
      pipeline.finish(out);
      co_return true;
    }
    if (!first_byte_ms_) first_byte_ms_ = gateway_.loop_.now() - ask_.started_ms;
    pipeline.push(piece->bytes, out);
    if (pipeline.started() && !first_token_ms_) {
      first_token_ms_ = gateway_.loop_.now() - ask_.started_ms;
      if (!wants_call()) forget_request();
    }
    if (request_.stream && !out.empty() && !pipeline.finished() && !is_held(pipeline)) {
      if (!co_await send(out)) co_return false;
    }
  }
  co_return true;
}

void Turn::give_up(const Error& error, Pipeline& pipeline, std::string& out) {
  gave_up_ = true;
  pipeline.fail(error, out);
  if (ask_.capture) ask_.capture->gave_up(error);
}

net::Task<bool> Turn::send(std::string& out) {
  if (!ask_.exchange.started()) {
    add_event_stream_headers(ask_.headers);
    add_notices();
    ask_.exchange.start(200, ask_.headers);
    status_ = 200;
    if (ask_.capture) ask_.capture->client_got(200, ask_.headers, "");
  }
  if (ask_.capture) ask_.capture->client_got(out);
  trace_.wrote();
  const auto written = co_await ask_.exchange.write(out);
  bytes_out_ += out.size();
  out.clear();
  co_return written.has_value();
}

net::Task<Turn::Step> Turn::deliver(UpstreamCall& call, Pipeline& pipeline, std::string& out) {
  // Nobody wants what the upstream is still writing.
  if (pipeline.cut_short() || gave_up_) call.cancel();
  if (pipeline.error()) error_ = *pipeline.error();
  if (pipeline.error() && !ask_.exchange.started() && (!request_.stream || out.empty())) {
    co_return Step::failed;
  }
  Result<void> written;
  status_ = 200;
  if (request_.stream) {
    if (!ask_.exchange.started() && !co_await send(out)) co_return Step::gone;
    if (ask_.capture) ask_.capture->client_got(out);
    trace_.wrote();
    written = co_await ask_.exchange.end(out);
    bytes_out_ += out.size();
  } else {
    ask_.headers.add("content-type", "application/json");
    add_notices();
    add_counters(ask_.headers, summary_, options_.policy);
    if (ask_.capture) ask_.capture->client_got(200, ask_.headers, out);
    record_.responded(out);
    written = co_await ask_.exchange.respond(200, ask_.headers, out);
    bytes_out_ += out.size();
  }
  if (!written) co_return Step::gone;
  co_return Step::answered;
}

void Turn::forget_request() {
  request_.messages = {};
  request_.extra = {};
  if (encoded_) record_.sent(std::move(encoded_->body));
  encoded_.reset();
  ask_.exchange.drop_body();
}

std::string_view Turn::dialect_name() const {
  return dialect_ == nullptr ? "native" : dialect_->name;
}

TurnSubject Turn::subject() const {
  return {.request = ask_.id,
          .key = ask_.key == nullptr ? std::string_view() : ask_.key->config.name,
          .model = model_.name,
          .model_id = model_.id.empty() ? model_.name : model_.id,
          .dialect = dialect_name(),
          .stream = request_.stream,
          .waited = Milliseconds(gateway_.loop_.now() - ask_.started_ms)};
}

TurnLabels Turn::labels() const {
  return {.request = ask_.id,
          .trace = trace_.trace_text(),
          .model = model_.name,
          .dialect = dialect_name()};
}

void Turn::record_begin() {
  store::RequestRecord record = make_record(subject(), model_, protocol_.name);
  record.client_address = ask_.exchange.peer();
  record.session = session_of(ask_.exchange.head().headers);
  record.trace_id = trace_.trace_text();
  record_.begin(record, std::move(ask_.received), request_);
  observe_begin(gateway_.world_, std::move(record));
}

void Turn::record_end(Step step) {
  TurnEnd end;
  end.request = ask_.id;
  end.bytes_in = ask_.received_bytes;
  end.how = step == Step::gone     ? TurnEnd::How::gone
            : step == Step::failed ? TurnEnd::How::failed
                                   : TurnEnd::How::answered;
  end.error = &error_;
  end.status = status_;
  end.upstream = upstream_;
  end.session = session_;
  end.attempts = attempts_;
  end.bytes_out = bytes_out_;
  end.first_byte_ms = first_byte_ms_;
  end.first_token_ms = first_token_ms_;
  end.total_ms = gateway_.loop_.now() - ask_.started_ms;
  end.cut = summary_.cut_by;
  store::RequestOutcome outcome = make_outcome(end, summary_);
  if (ask_.capture) {
    const bool keep = is_suspicious(outcome, summary_);
    if (keep) ask_.capture->keep_request(request_);
    ask_.capture->finish(store::to_string(outcome.state),
                         keep ? &gateway_.world_.recent_captures : nullptr);
  }
  record_.complete(outcome);
  trace_.end(outcome, summary_);
  observe_end(gateway_.world_, labels(), std::move(outcome), summary_);
}

}  // namespace callgate::server
