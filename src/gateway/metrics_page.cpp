#include "gateway/metrics_page.h"

#include "telemetry/span_exporter.h"

namespace callgate::server {

namespace {

void show_upstreams(World& world, std::uint64_t now) {
  for (const UpstreamStatus& upstream : world.pools.status(now)) {
    world.metrics.upstream_in_flight.with(upstream.name).set(upstream.in_flight);
    world.metrics.upstream_queued.with(upstream.name).set(upstream.queued);
    world.metrics.upstream_ejected.with(upstream.name).set(upstream.trouble.empty() ? 0 : 1);
  }
}

}  // namespace

std::string render_metrics(World& world, Rooms& rooms, std::uint64_t now) {
  show_upstreams(world, now);
  const store::Health health = world.requests.health();
  world.metrics.store_queue_depth.with().set(static_cast<std::int64_t>(health.queued));
  world.metrics.store_lag.with().set(health.lag.count());
  world.metrics.store_dropped.with().raise_to(health.dropped);
  world.metrics.store_errors.with().raise_to(health.errors);
  world.metrics.store_shed.with().raise_to(health.shed);
  world.metrics.store_spooled.with().raise_to(health.spooled);
  world.metrics.store_journal_bytes.with().set(static_cast<std::int64_t>(health.journal_bytes));
  world.metrics.session_failures.with().raise_to(world.conversations.answers.failures());
  const RoomCounters& counters = rooms.counters();
  world.metrics.rooms.with().set(static_cast<std::int64_t>(rooms.count()));
  world.metrics.room_subscribers.with().set(counters.subscribers.load());
  world.metrics.room_subscribers_dropped.with().raise_to(counters.dropped.load());
  world.metrics.room_frames.with().raise_to(counters.frames.load());
  world.metrics.memory_used.with().set(static_cast<std::int64_t>(world.memory.used()));
  world.metrics.memory_limit.with().set(static_cast<std::int64_t>(world.memory.limit()));
  world.metrics.memory_refused.with().raise_to(world.memory.refused());
  world.metrics.memory_shed.with().raise_to(world.memory.shed());
  world.metrics.connections_active.with().set(world.connections.load(std::memory_order_relaxed));
  world.metrics.log_shed.with().raise_to(world.log.shed());
  world.metrics.store_healthy.with().set(health.healthy ? 1 : 0);
  world.metrics.draining.with().set(world.draining.load(std::memory_order_relaxed) ? 1 : 0);
  if (world.spans != nullptr) {
    const telemetry::SpanExporter::Counts counts = world.spans->counts();
    world.metrics.otlp_queue_depth.with().set(static_cast<std::int64_t>(counts.queued));
    world.metrics.otlp_sent.with().raise_to(counts.sent);
    world.metrics.otlp_dropped.with().raise_to(counts.dropped);
    world.metrics.otlp_failures.with().raise_to(counts.failures);
  }
  return world.metrics.render();
}

}  // namespace callgate::server
