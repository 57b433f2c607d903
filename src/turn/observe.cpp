#include "turn/observe.h"

#include <chrono>

#include "chat/event_log.h"
#include "telemetry/span_exporter.h"
#include "telemetry/trace_context.h"

namespace callgate::server {
namespace {

std::chrono::milliseconds milliseconds(std::int64_t count) {
  return std::chrono::milliseconds(count);
}

void count_usage(telemetry::Metrics& metrics, std::string_view model, const Usage& usage) {
  const auto add = [&](std::string_view kind, std::int64_t tokens) {
    if (tokens > 0) metrics.tokens.with(model, kind).add(static_cast<std::uint64_t>(tokens));
  };
  add("prompt", usage.prompt_tokens);
  add("completion", usage.completion_tokens);
  add("cached", usage.cached_tokens);
  add("reasoning", usage.reasoning_tokens);
}

std::string_view trace_field(const std::string& trace) { return trace.empty() ? "" : "trace"; }

void count_calls(telemetry::Metrics& metrics, const TurnLabels& turn, const TurnSummary& summary) {
  constexpr CallOutcome kOutcomes[] = {CallOutcome::complete, CallOutcome::truncated,
                                       CallOutcome::malformed};
  const std::string_view found = summary.settled_on.empty() ? turn.dialect : summary.settled_on;
  const std::string_view dialect = summary.text_calls > 0 ? found : "native";
  for (const CallOutcome outcome : kOutcomes) {
    const std::uint32_t count = summary.outcomes[static_cast<std::size_t>(outcome)];
    if (count == 0) continue;
    metrics.calls.with(turn.model, dialect, callgate::to_string(outcome)).add(count);
  }
  if (summary.held_back_deltas > 0) {
    metrics.held_back_deltas.with(turn.dialect).add(summary.held_back_deltas);
    metrics.held_back_bytes.with(turn.dialect).add(summary.held_back_bytes);
  }
}

void count_turn(telemetry::Metrics& metrics, const TurnLabels& turn, const TurnSummary& summary) {
  const std::string_view model = turn.model;
  count_calls(metrics, turn, summary);
  for (std::size_t i = 0; i < kRepairCount; ++i) {
    if (summary.repairs[i] == 0) continue;
    metrics.repairs.with(model, callgate::to_string(static_cast<Repair>(i)))
        .add(summary.repairs[i]);
  }
  if (summary.grammar_broken > 0) metrics.grammar.with(model, "broken").add(summary.grammar_broken);
  if (summary.grammar_unchecked > 0) {
    metrics.grammar.with(model, "unchecked").add(summary.grammar_unchecked);
  }
  if (summary.withheld_calls > 0) {
    metrics.withheld_calls.with(model).add(summary.withheld_calls);
  }
  if (!summary.missed_in.empty()) {
    metrics.missed_calls.with(model, summary.missed_in).add();
  }
  if (summary.cut) metrics.turns_cut.with(model).add();
  if (summary.usage) count_usage(metrics, model, *summary.usage);
  if (summary.frames_in > 0) metrics.upstream_frames.with().add(summary.frames_in);
}

// Once per stream, however many there were.
void log_invalid_frames(World& world, const TurnLabels& turn, std::string_view upstream,
                        const TurnSummary& summary) {
  const std::uint32_t count = summary.repairs[static_cast<std::size_t>(Repair::frame_invalid)];
  if (count == 0) return;
  world.log.warning("upstream sent frames that are not JSON",
                    {{"request", turn.request},
                     {trace_field(turn.trace), turn.trace},
                     {"upstream", upstream},
                     {"frames", count}});
}

}  // namespace

void observe_begin(World& world, store::RequestRecord record) {
  world.requests.begin(std::move(record));
}

void observe_end(World& world, const TurnLabels& turn, store::RequestOutcome&& outcome,
                 const TurnSummary& summary) {
  const std::string_view model = turn.model;
  telemetry::Metrics& metrics = world.metrics;
  const bool gone = outcome.state == store::RequestState::disconnected;
  if (gone) metrics.client_disconnects.with().add();
  metrics.requests.with(model, gone ? "disconnected" : telemetry::status_class(outcome.http_status))
      .add();
  metrics.request_duration.with(model).observe(milliseconds(outcome.total_ms));
  if (outcome.first_token_ms) {
    metrics.time_to_first_token.with(model).observe(milliseconds(*outcome.first_token_ms));
  }
  count_turn(metrics, turn, summary);
  log_invalid_frames(world, turn, outcome.upstream, summary);
  if (outcome.state == store::RequestState::failed) {
    metrics.errors.with(outcome.error_code).add();
    world.log.warning("request failed",
                      {{"request", outcome.id},
                       {trace_field(turn.trace), turn.trace},
                       {outcome.upstream.empty() ? "" : "upstream", outcome.upstream},
                       {"code", outcome.error_code},
                       {"error", outcome.error_message}});
  }
  if (world.requests.keeps_rows()) world.requests.complete(std::move(outcome));
}

void observe_retry(World& world, const TurnLabels& turn, std::string_view upstream,
                   const Error& error) {
  world.metrics.upstream_retries.with(upstream).add();
  world.log.info("trying again", {{"request", turn.request},
                                  {trace_field(turn.trace), turn.trace},
                                  {"upstream", upstream},
                                  {"error", error.message}});
}

void report_pools(World& world) {
  world.pools.set_listener([&world](const PoolNews& news) {
    const std::string_view trouble = to_string(news.trouble);
    if (news.what == Lane::News::ejected) {
      world.metrics.upstream_ejections.with(news.upstream, trouble).add();
      world.log.warning(
          "upstream is left out of pools",
          {{"upstream", news.upstream}, {"trouble", trouble}, {"reason", news.reason}});
    } else {
      world.log.info(
          "upstream is well again",
          {{"upstream", news.upstream}, {"after_ms", news.out_ms}, {"trouble", trouble}});
    }
  });
}

void observe_upstream(World& world, std::string_view upstream, const Error* error) {
  world.metrics.upstream_requests.with(upstream, error == nullptr ? "ok" : "failed").add();
  world.metrics.upstream_up.with(upstream).set(error == nullptr ? 1 : 0);
  if (error != nullptr) world.metrics.upstream_errors.with(upstream, to_string(error->code)).add();
}

void observe_refusal(World& world, const Ask& ask, int status, const Error& error) {
  world.metrics.requests.with("", telemetry::status_class(status)).add();
  world.metrics.errors.with(to_string(error.code)).add();
  if (!world.log.is_enabled(telemetry::LogLevel::debug)) return;
  const auto context = telemetry::trace_context_of(ask.exchange.head().headers);
  const std::string trace = context ? telemetry::to_hex(context->trace) : std::string();
  world.log.debug("request refused", {{"request", ask.id},
                                      {trace_field(trace), trace},
                                      {"status", status},
                                      {"error", error.message}});
}

// `input[3]` and `messages.3.content.1` are items that nobody knows, `tools[2]` is a tool that only its own server runs.
void observe_dropped(World& world, std::string_view protocol, std::string_view names) {
  while (!names.empty()) {
    const std::size_t end = names.find(", ");
    const std::string_view name = names.substr(0, end);
    names.remove_prefix(end == std::string_view::npos ? names.size() : end + 2);
    const bool item =
        name.starts_with("input[") || name.starts_with("messages") || name.starts_with("contents");
    const std::string_view kind = item ? "item" : name.starts_with("tools") ? "tool" : "field";
    world.metrics.dropped_parts.with(protocol, kind).add();
  }
}

void observe_auth_failure(World& world) { world.metrics.auth_failures.with().add(); }

void observe_budget(World& world, std::string_view key, std::string_view when) {
  world.metrics.budget_stops.with(key, when).add();
}

void observe_rate_limited(World& world, std::string_view key) {
  world.metrics.rate_limited.with(key).add();
}

ChildHealth observe_child(World& world, const std::string& upstream) {
  return {
      .up = [&world,
             upstream](bool up) { world.metrics.codex_child_up.with(upstream).set(up ? 1 : 0); },
      .restarted = [&world, upstream] { world.metrics.codex_child_restarts.with(upstream).add(); },
      .log =
          [&world, upstream](std::string_view what) {
            world.log.warning("child", {{"upstream", upstream}, {"said", what}});
          }};
}

void observe_tool_run(World& world, std::string_view tool, std::string_view outcome,
                      std::optional<Milliseconds> duration) {
  world.metrics.tool_runs.with(tool, outcome).add();
  if (duration) world.metrics.tool_duration.with(tool).observe(*duration);
}

void observe_loop(World& world, std::string_view model, std::string_view end) {
  world.metrics.loops.with(model, end).add();
}

void ExplainLog::stayed_text(const StayedText& text) {
  const std::string why = dialect::to_string(text, turn_.dialect);
  world_.log.debug("markup stayed text", {{"request", turn_.request},
                                          {trace_field(turn_.trace), turn_.trace},
                                          {"model", turn_.model},
                                          {"why", why}});
}

StreamGauge::StreamGauge(World& world) : world_(world) {
  world_.metrics.streams_active.with().add();
}
StreamGauge::~StreamGauge() { world_.metrics.streams_active.with().subtract(); }

LoopGauge::LoopGauge(World& world) : world_(world) { world_.metrics.loops_active.with().add(); }
LoopGauge::~LoopGauge() { world_.metrics.loops_active.with().subtract(); }

}  // namespace callgate::server
