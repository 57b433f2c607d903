#include "server/observe.h"

#include <chrono>

#include "chat/event_log.h"

namespace callgate::server {
namespace {

constexpr telemetry::Shard kAnyShard = 0;

std::chrono::milliseconds milliseconds(std::int64_t count) {
  return std::chrono::milliseconds(count);
}

void count_usage(telemetry::Metrics& metrics, std::string_view model, const Usage& usage) {
  const auto add = [&](std::string_view kind, std::int64_t tokens) {
    if (tokens > 0)
      metrics.tokens.with(kAnyShard, model, kind).add(static_cast<std::uint64_t>(tokens));
  };
  add("prompt", usage.prompt_tokens);
  add("completion", usage.completion_tokens);
  add("cached", usage.cached_tokens);
  add("reasoning", usage.reasoning_tokens);
}

void count_turn(telemetry::Metrics& metrics, std::string_view model, const TurnSummary& summary) {
  constexpr CallOutcome kOutcomes[] = {CallOutcome::complete, CallOutcome::truncated,
                                       CallOutcome::malformed};
  for (const CallOutcome outcome : kOutcomes) {
    const std::uint32_t count = summary.outcomes[static_cast<std::size_t>(outcome)];
    if (count > 0) metrics.calls.with(kAnyShard, model, callgate::to_string(outcome)).add(count);
  }
  for (std::size_t i = 0; i < kRepairCount; ++i) {
    if (summary.repairs[i] == 0) continue;
    metrics.repairs.with(kAnyShard, model, callgate::to_string(static_cast<Repair>(i)))
        .add(summary.repairs[i]);
  }
  if (summary.withheld_calls > 0) {
    metrics.withheld_calls.with(kAnyShard, model).add(summary.withheld_calls);
  }
  if (summary.cut) metrics.turns_cut.with(kAnyShard, model).add();
  if (summary.usage) count_usage(metrics, model, *summary.usage);
  if (summary.frames_in > 0) metrics.upstream_frames.with(kAnyShard).add(summary.frames_in);
}

}  // namespace

std::int64_t unix_milliseconds() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

void observe_begin(World& world, store::RequestRecord record) {
  world.requests.begin(std::move(record));
}

void observe_end(World& world, std::string_view model, store::RequestOutcome outcome,
                 const TurnSummary& summary) {
  telemetry::Metrics& metrics = world.metrics;
  const bool gone = outcome.state == store::RequestState::disconnected;
  if (gone) metrics.client_disconnects.with(kAnyShard).add();
  metrics.requests
      .with(kAnyShard, model, gone ? "disconnected" : telemetry::status_class(outcome.http_status))
      .add();
  metrics.request_duration.with(kAnyShard, model).observe(milliseconds(outcome.total_ms));
  if (outcome.first_token_ms) {
    metrics.time_to_first_token.with(kAnyShard, model)
        .observe(milliseconds(*outcome.first_token_ms));
  }
  count_turn(metrics, model, summary);
  if (outcome.state == store::RequestState::failed) {
    world.log.warning(
        "request failed",
        {{"request", outcome.id}, {"code", outcome.error_code}, {"error", outcome.error_message}});
  }
  world.requests.complete(std::move(outcome));
}

void observe_retry(World& world, std::string_view upstream, const Error& error) {
  world.metrics.upstream_retries.with(kAnyShard, upstream).add();
  world.log.info("trying again", {{"upstream", upstream}, {"error", error.message}});
}

void observe_upstream(World& world, std::string_view upstream, const Error* error) {
  world.metrics.upstream_requests.with(kAnyShard, upstream, error == nullptr ? "ok" : "failed")
      .add();
  if (error != nullptr)
    world.metrics.upstream_errors.with(kAnyShard, upstream, to_string(error->code)).add();
}

void observe_refusal(World& world, std::string_view request_id, int status, const Error& error) {
  world.metrics.requests.with(kAnyShard, "", telemetry::status_class(status)).add();
  world.log.debug("request refused",
                  {{"request", request_id}, {"status", status}, {"error", error.message}});
}

void observe_auth_failure(World& world) { world.metrics.auth_failures.with(kAnyShard).add(); }

void observe_rate_limited(World& world, std::string_view key) {
  world.metrics.rate_limited.with(kAnyShard, key).add();
}

std::string render_metrics(World& world) {
  const store::Health health = world.requests.health();
  world.metrics.store_queue_depth.with(kAnyShard).set(static_cast<std::int64_t>(health.queued));
  world.metrics.store_dropped.with(kAnyShard).raise_to(health.dropped);
  world.metrics.store_errors.with(kAnyShard).raise_to(health.errors);
  world.metrics.connections_active.with(kAnyShard).set(
      world.connections.load(std::memory_order_relaxed));
  world.metrics.store_healthy.with(kAnyShard).set(health.healthy ? 1 : 0);
  world.metrics.draining.with(kAnyShard).set(world.draining.load(std::memory_order_relaxed) ? 1
                                                                                            : 0);
  return world.metrics.render();
}

StreamGauge::StreamGauge(World& world) : world_(world) {
  world_.metrics.streams_active.with(kAnyShard).add();
}
StreamGauge::~StreamGauge() { world_.metrics.streams_active.with(kAnyShard).subtract(); }

}  // namespace callgate::server
