#include "turn/turn_trace.h"

#include "chat/event_log.h"
#include "net/url.h"
#include "telemetry/span.h"
#include "telemetry/span_exporter.h"
#include "turn/observe.h"

namespace callgate::server {
namespace {

using telemetry::Span;
using telemetry::SpanId;
using telemetry::SpanKind;
using telemetry::TraceContext;

constexpr std::size_t kMostAttempts = 16;  // with a span of their own
constexpr std::size_t kMostSpans = 64;

std::chrono::nanoseconds steady_now() {
  return std::chrono::steady_clock::now().time_since_epoch();
}
std::int64_t unix_now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// GenAI's name for who made the API that is spoken.
std::string_view provider_of(std::string_view wire) {
  return wire == "openai_chat" ? "openai" : wire;
}

SpanId next_span(IdMint& mint) {
  const SpanId span = mint.next();
  return span == 0 ? 1 : span;
}

// The trace that a request is in, and its span as the parent of what follows. `parent` is the caller's span.
struct Joined {
  TraceContext context;
  SpanId parent = 0;
};

Joined join_trace(const telemetry::SpanExporter& spans, IdMint& mint,
                  std::optional<TraceContext> given) {
  Joined joined;
  if (given) {
    joined.context = std::move(*given);
    joined.parent = joined.context.span;
  } else {
    joined.context.trace = {mint.next(), mint.next() | 1};
    joined.context.sampled = spans.samples(joined.context.trace);
  }
  joined.context.span = next_span(mint);
  return joined;
}

Span server_span(const Joined& joined, std::string_view name, std::int64_t started_at) {
  Span span{.trace = joined.context.trace,
            .id = joined.context.span,
            .parent = joined.parent,
            .state = joined.context.state,
            .kind = SpanKind::server,
            .name = telemetry::attribute_text(name),
            .started_at = started_at};
  span.set("gen_ai.operation.name", "chat");
  return span;
}

void set_error(Span& span, std::string_view type) {
  span.failed = true;
  span.set("error.type", type);
}

}  // namespace

struct TurnTrace::Call {
  std::uint32_t choice = 0;
  CallIndex call = 0;
  bool in_text = false;
  std::string name;
  std::string call_id;
  std::uint64_t position = 0;
  std::int64_t started_at = 0;
  std::int64_t ended_at = 0;  // 0: still open
  CallEnd end;
  // Of the run, when the gateway runs the tool.
  SpanId run = 0;  // 0: it does not
  std::uint32_t round = 0;
  std::int64_t run_started_at = 0;
  std::int64_t run_ended_at = 0;
  std::string_view run_outcome = "interrupted";
};

// Spans of a turn until it ends. The first is the request's.
struct TurnTrace::Recording {
  Span request;
  std::vector<Span> attempts;
  std::uint32_t attempt_count = 0;
  std::uint32_t round_attempts = 0;  // of the round, or of the turn that has none
  std::optional<std::uint32_t> round;
  bool attempt_open = false;
  std::vector<Call> calls;
  std::uint32_t more_calls = 0;  // beyond kMostSpans
  std::string_view provider;     // of the last attempt
  std::int64_t unix_start = 0;
  std::chrono::nanoseconds steady_start{0};
};

TurnTrace::TurnTrace(World& world, IdMint& mint, const net::Headers& asked,
                     const TurnSubject& subject)
    : world_(world),
      mint_(mint),
      subject_(subject),
      logs_calls_(world.log.is_enabled(telemetry::LogLevel::debug)),
      context_(telemetry::trace_context_of(asked)) {
  if (world_.spans == nullptr) return;
  const Joined joined = join_trace(*world_.spans, mint_, std::move(context_));
  context_ = joined.context;
  if (!context_->sampled) return;
  recording_ = std::make_unique<Recording>();
  recording_->unix_start = unix_now();
  recording_->steady_start = steady_now();
  const std::string name = "chat " + std::string(subject_.model);
  Span& span = recording_->request;
  span = server_span(joined, name,
                     recording_->unix_start - std::chrono::nanoseconds(subject_.waited).count());
  span.set("gen_ai.request.model", subject_.model);
  span.set("gen_ai.request.stream", subject_.stream);
  span.set("callgate.request_id", subject_.request);
  if (!subject_.key.empty()) span.set("callgate.key", subject_.key);
}

TurnTrace::~TurnTrace() {
  if (recording_ == nullptr) return;
  set_error(recording_->request, "interrupted");
  hand_over();
}

TurnObserver* TurnTrace::observer() {
  return logs_calls_ || recording_ != nullptr ? this : nullptr;
}

std::string TurnTrace::trace_text() const {
  return context_ ? telemetry::to_hex(context_->trace) : std::string();
}

// Steady, so that no span ends before it began.
std::int64_t TurnTrace::now() const {
  return recording_->unix_start + (steady_now() - recording_->steady_start).count();
}

Span TurnTrace::child_span(SpanKind kind, const std::string& name) {
  return {.trace = context_->trace,
          .id = next_span(mint_),
          .parent = context_->span,
          .kind = kind,
          .name = telemetry::attribute_text(name)};
}

void TurnTrace::begin_attempt(const UpstreamConfig& upstream, HeaderList& headers) {
  if (!context_) return;
  TraceContext outgoing = *context_;
  if (recording_ != nullptr) {
    recording_->provider = provider_of(upstream.wire);
    ++recording_->attempt_count;
    ++recording_->round_attempts;
    if (recording_->attempts.size() < kMostAttempts) outgoing.span = open_attempt(upstream).id;
  }
  headers.emplace_back("traceparent", telemetry::to_traceparent(outgoing));
  if (!outgoing.state.empty()) headers.emplace_back("tracestate", outgoing.state);
}

const Span& TurnTrace::open_attempt(const UpstreamConfig& upstream) {
  Span& span = recording_->attempts.emplace_back(
      child_span(SpanKind::client, "chat " + std::string(subject_.model_id)));
  recording_->attempt_open = true;
  span.started_at = now();
  span.set("gen_ai.operation.name", "chat");
  span.set("gen_ai.provider.name", recording_->provider);
  span.set("gen_ai.request.model", subject_.model_id);
  span.set("callgate.upstream", upstream.name);
  span.set("http.request.resend_count", std::int64_t{recording_->round_attempts} - 1);
  if (recording_->round) span.set("callgate.round", std::int64_t{*recording_->round});
  if (const auto target = net::parse_url(upstream.url); target && !target->host.empty()) {
    span.set("server.address", target->host);
    span.set("server.port", std::int64_t{target->port});
  }
  return span;
}

void TurnTrace::end_attempt(int status, const Error* error) {
  if (recording_ == nullptr || !std::exchange(recording_->attempt_open, false)) return;
  Span& span = recording_->attempts.back();
  span.ended_at = now();
  if (status > 0) span.set("http.response.status_code", std::int64_t{status});
  if (error != nullptr) set_error(span, to_string(error->code));
}

void TurnTrace::begin_round(std::uint32_t round, bool again) {
  if (recording_ == nullptr) return;
  recording_->round = round;
  if (!again) recording_->round_attempts = 0;
}

TurnTrace::Call* TurnTrace::find_call(std::string_view call_id, std::string_view name, bool runs) {
  const auto find = [&](auto same) -> Call* {
    for (Call& call : recording_->calls) {
      const bool in_run = call.run != 0 && call.run_ended_at == 0;
      if ((runs ? in_run : call.run == 0) && same(call)) return &call;
    }
    return nullptr;
  };
  if (Call* call = find([&](const Call& each) { return each.call_id == call_id; })) return call;
  return find([&](const Call& each) { return each.name == name; });
}

TurnTrace::ToolTrace TurnTrace::begin_tool(std::string_view call_id, std::string_view name) {
  if (!context_) return {};
  TraceContext outgoing = *context_;
  if (recording_ != nullptr) {
    if (Call* call = find_call(call_id, name, false)) {
      call->call_id = telemetry::attribute_text(call_id);
      call->run = outgoing.span = next_span(mint_);
      call->run_started_at = now();
      call->round = recording_->round.value_or(0);
    }
  }
  return {telemetry::to_traceparent(outgoing), outgoing.state};
}

void TurnTrace::end_tool(std::string_view call_id, std::string_view name,
                         std::string_view outcome) {
  if (recording_ == nullptr) return;
  Call* call = find_call(call_id, name, true);
  if (call == nullptr) return;
  call->run_ended_at = now();
  call->run_outcome = outcome;
}

void TurnTrace::wrote() {
  const auto at = std::chrono::steady_clock::now();
  if (last_write_) {
    if (gaps_ == nullptr) gaps_ = &world_.metrics.inter_frame.with(subject_.model);
    gaps_->observe(at - *last_write_);
  }
  last_write_ = at;
}

void TurnTrace::turn_started(std::string_view response_id) {
  if (recording_ == nullptr) return;
  recording_->request.set("gen_ai.response.id", response_id);
}

void TurnTrace::call_started(const CallStart& start) {
  if (logs_calls_) {
    const std::string trace = trace_text();
    world_.log.debug("call_started", {{"request", subject_.request},
                                      {trace.empty() ? "" : "trace", trace},
                                      {"tool_call_index", start.call},
                                      {"choice", start.choice},
                                      {"tool", telemetry::attribute_text(start.name)},
                                      {"delta_position", start.position},
                                      {"dialect", dialect_of(start.in_text)}});
  }
  if (recording_ == nullptr) return;
  if (recording_->calls.size() >= kMostSpans) {
    ++recording_->more_calls;
    return;
  }
  recording_->calls.push_back({.choice = start.choice,
                               .call = start.call,
                               .in_text = start.in_text,
                               .name = telemetry::attribute_text(start.name),
                               .call_id = telemetry::attribute_text(start.id),
                               .position = start.position,
                               .started_at = now()});
}

void TurnTrace::call_finished(const CallEnd& end) {
  if (logs_calls_) {
    const std::string trace = trace_text();
    world_.log.debug("call_finished", {{"request", subject_.request},
                                       {trace.empty() ? "" : "trace", trace},
                                       {"tool_call_index", end.call},
                                       {"choice", end.choice},
                                       {"delta_position", end.position},
                                       {"bytes", end.bytes},
                                       {"outcome", callgate::to_string(end.outcome)},
                                       {"usage_emitted", end.usage_emitted},
                                       {"dialect", dialect_of(end.in_text)}});
  }
  if (recording_ == nullptr) return;
  auto& calls = recording_->calls;
  const auto open = std::find_if(calls.rbegin(), calls.rend(), [&](const Call& call) {
    return call.choice == end.choice && call.call == end.call && call.ended_at == 0;
  });
  if (open == calls.rend()) return;
  open->ended_at = now();
  open->end = end;
}

namespace {

void set_answer(Span& span, const store::RequestOutcome& outcome, const TurnSummary& summary) {
  span.set("http.response.status_code", std::int64_t{outcome.http_status});
  if (outcome.finish_reason) {
    span.set("gen_ai.response.finish_reasons",
             std::vector<std::string>{std::string(callgate::to_string(*outcome.finish_reason))});
  }
  if (summary.usage) {
    span.set("gen_ai.usage.input_tokens", summary.usage->prompt_tokens);
    span.set("gen_ai.usage.output_tokens", summary.usage->completion_tokens);
    if (summary.usage->cached_tokens > 0)
      span.set("gen_ai.usage.cache_read.input_tokens", summary.usage->cached_tokens);
    if (summary.usage->reasoning_tokens > 0)
      span.set("gen_ai.usage.reasoning.output_tokens", summary.usage->reasoning_tokens);
  }
  if (outcome.first_token_ms) {
    span.set("gen_ai.response.time_to_first_chunk",
             static_cast<double>(*outcome.first_token_ms) / 1000);
  }
  span.set("callgate.upstream", outcome.upstream);
  span.set("callgate.attempts", outcome.attempts);
  span.set("callgate.calls", outcome.calls);
  span.set("callgate.repairs", outcome.repairs);
}

}  // namespace

void TurnTrace::end(const store::RequestOutcome& outcome, const TurnSummary& summary) {
  if (recording_ == nullptr) return;
  Span& span = recording_->request;
  span.set("gen_ai.provider.name", recording_->provider);
  span.set("callgate.dialect", subject_.dialect);
  set_answer(span, outcome, summary);
  if (outcome.state == store::RequestState::failed) {
    set_error(span, outcome.error_code);
  } else if (outcome.state == store::RequestState::disconnected) {
    set_error(span, "client_disconnected");
  } else {
    span.set("gen_ai.response.model", subject_.model);
  }
  hand_over();
}

// `turn_end`: when a call that is still open ends.
Span TurnTrace::call_span(const Call& call, std::int64_t turn_end) {
  const bool finished = call.ended_at != 0;
  const bool runs = call.run != 0;
  std::string_view outcome = finished ? callgate::to_string(call.end.outcome) : "interrupted";
  Span span = child_span(SpanKind::internal, "execute_tool " + call.name);
  span.started_at = call.started_at;
  span.ended_at = finished ? call.ended_at : turn_end;
  if (runs) {
    outcome = call.run_outcome;
    span.id = call.run;
    span.started_at = call.run_started_at;
    span.ended_at = call.run_ended_at == 0 ? turn_end : call.run_ended_at;
    span.set("callgate.round", std::int64_t{call.round});
  }
  span.set("gen_ai.operation.name", "execute_tool");
  span.set("gen_ai.tool.name", call.name);
  span.set("gen_ai.tool.call.id", call.call_id);
  span.set("gen_ai.tool.type", "function");
  span.set("callgate.tool_call_index", std::int64_t{call.call});
  span.set("callgate.delta_position", static_cast<std::int64_t>(call.position));
  span.set("callgate.dialect", dialect_of(call.in_text));
  span.set("callgate.outcome", outcome);
  if (finished) {
    span.set("callgate.bytes", static_cast<std::int64_t>(call.end.bytes));
    span.set("callgate.usage_emitted", call.end.usage_emitted);
  }
  if (outcome != (runs ? "ok" : "complete")) set_error(span, outcome);
  return span;
}

void TurnTrace::hand_over() {
  const std::int64_t end = now();
  Recording& recording = *recording_;
  std::vector<Span> spans;
  spans.reserve(1 + recording.attempts.size() + recording.calls.size());
  recording.request.ended_at = end;
  if (recording.more_calls > 0) {
    recording.request.set("callgate.calls_without_span", std::int64_t{recording.more_calls});
  }
  spans.push_back(std::move(recording.request));
  for (Span& attempt : recording.attempts) {
    if (attempt.ended_at == 0) attempt.ended_at = end;
    spans.push_back(std::move(attempt));
  }
  for (const Call& call : recording.calls) spans.push_back(call_span(call, end));
  recording_.reset();
  world_.spans->push(std::move(spans));
}

void trace_refusal(World& world, IdMint& mint, const Ask& ask, int status, const Error& error,
                   Milliseconds waited) {
  const net::RequestHead& head = ask.exchange.head();
  if (world.spans == nullptr || !client::is_turn(*ask.protocol, head.method, head.path) ||
      error.code == ErrorCode::unauthenticated) {
    return;
  }
  const Joined joined = join_trace(*world.spans, mint, telemetry::trace_context_of(head.headers));
  if (!joined.context.sampled) return;
  const std::int64_t now = unix_now();
  Span span = server_span(joined, "chat", now - std::chrono::nanoseconds(waited).count());
  span.ended_at = now;
  span.set("callgate.request_id", ask.id);
  if (ask.key != nullptr) span.set("callgate.key", ask.key->config.name);
  span.set("http.response.status_code", std::int64_t{status});
  set_error(span, to_string(error.code));
  std::vector<Span> spans;
  spans.push_back(std::move(span));
  world.spans->push(std::move(spans));
}

}  // namespace callgate::server
