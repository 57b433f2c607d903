#include "gateway/service.h"

#include <algorithm>
#include <csignal>
#include <random>
#include <thread>

#include "config/restart.h"
#include "config/tool_config.h"
#include "gateway/memory_limit.h"
#include "gateway/serve_options.h"
#include "net/tls.h"
#include "tool/host.h"

namespace callgate::server {
namespace {

std::uint64_t random_seed() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) | device();
}

std::size_t thread_count(const Config& config) {
  if (config.threads > 0) return static_cast<std::size_t>(config.threads);
  return std::max(1u, std::thread::hardware_concurrency());
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text.append(text.empty() ? "" : ", ").append(word);
  return text;
}

}  // namespace

Service::Worker::Worker(net::Loop& own_loop, World& world, Rooms& rooms, const Config& config)
    : loop(own_loop),
      gateway(world, rooms, own_loop, random_seed()),
      server(own_loop, server_options(config, world, random_seed()),
             [this](net::Exchange& exchange) { return gateway.answer(exchange); }) {}

Service::Service(ServeOptions options, Config config, const Surroundings& around)
    : options_(std::move(options)),
      log_(around.log),
      world_(around.log, around.metrics, around.requests, config.limits.max_streams),
      loops_(thread_count(config)),
      started_with_(std::move(config)) {
  world_.spans = around.spans;
  world_.tools = around.tools;
  world_.queries = &queries_;
  world_.reload = [this](auto tell) { reload(std::move(tell)); };
  rooms_.set_memory(world_.memory);
  use_sessions(around.sessions, started_with_);
  for (std::size_t i = 0; i < loops_.size(); ++i) {
    report_faults(loops_[i], world_);
    workers_.push_back(std::make_unique<Worker>(loops_[i], world_, rooms_, started_with_));
  }
}

Service::~Service() {
  stop();
  join();
  if (room_cluster_ != nullptr) room_cluster_->stop();
}

void Service::use_sessions(store::Sessions* sessions, const Config& config) {
  const bool closed = config.store.when_down == "closed";
  world_.conversations.answers.set_store(sessions, closed);
  world_.memories.set_store(sessions);
  world_.responses.set_store(sessions);
  if (sessions == nullptr) return;
  if (sessions->shared()) world_.conversations.claims.set_leases(sessions, closed);
  stored_keys_ = std::make_unique<KeyBook>([this](std::string_view what) { log_.warning(what); });
  world_.stored_keys = stored_keys_.get();
  shared_limits_ = std::make_unique<SharedLimits>(*sessions, stored_keys_.get(), &world_.addresses);
  world_.limits = shared_limits_.get();
}

Access Service::make_access(const Config& config, const Access* before) const {
  return Access(config.keys, before, {.book = stored_keys_.get(), .required = config.require_key});
}

Result<void> Service::start() {
  auto first = std::make_shared<const Snapshot>(started_with_, make_access(started_with_, nullptr),
                                                world_.catalogue);
  auto parts = load_parts(world_, first->config, nullptr);
  if (!parts) return tl::unexpected(parts.error());
  parts_ = std::move(*parts);
  workers_[0]->gateway.watch_upstreams();
  for (auto& worker : workers_) {
    auto prepared = worker->gateway.prepare(first, *parts_);
    if (!prepared) return tl::unexpected(prepared.error());
    worker->gateway.use(std::move(*prepared));
  }
  use_limits(*first);
  snapshot_ = std::move(first);
  if (auto bound = listen(started_with_); !bound) return bound;
  share_rooms();
  loops_.start();
  return {};
}

void Service::share_rooms() {
  const std::string address = room_address(started_with_);
  store::Sessions* const sessions = world_.conversations.answers.store();
  if (address.empty() || sessions == nullptr || !sessions->shared()) return;
  room_cluster_ = std::make_unique<RoomCluster>(*sessions);
  room_cluster_->start(address);
  rooms_.set_cluster(room_cluster_.get());
  loops_[0].spawn(room_cluster_->patrol(loops_[0]));
  log_.info("rooms are shared with other gateways, which reach this one at " + address);
}

void Service::handle_signals() {
  loops_[0].on_signal(SIGTERM, [this] { drain_or_stop(); });
  loops_[0].on_signal(SIGINT, [this] { drain_or_stop(); });
  loops_[0].on_signal(SIGHUP, [this] { reload(); });
}

void Service::use_limits(const Snapshot& snapshot) {
  const LimitsConfig& limits = snapshot.config.limits;
  const std::uint64_t memory = memory_limit(limits);
  world_.memory.set_limit(memory);
  // What is kept between requests has limits of its own, and gets only a part of the whole budget.
  const auto part = [memory](Bytes configured) { return std::min(configured.count, memory / 8); };
  world_.streams.set_limit(limits.max_streams);
  world_.bodies.set_limit(limits.max_bodies);
  world_.wrong_keys.set_limit(limits.wrong_keys_per_minute);
  world_.addresses.set_limits(limits.address_requests_per_minute, limits.address_streams);
  world_.conversations.cache.set_limits(conversation_limits(limits));
  const LoopConfig& loop = snapshot.config.loop;
  world_.loop_states.set_limits(part(loop.state_bytes),
                                static_cast<std::uint64_t>(loop.state_ttl.count()));
  world_.memories.set_limits({.messages = loop.memory_messages,
                              .bytes = static_cast<std::int64_t>(loop.memory_bytes.count),
                              .ttl = loop.memory_ttl,
                              .unstored_bytes = part(loop.memory_unstored_bytes)});
  world_.responses.set_limits({.ttl = snapshot.config.responses.keep,
                               .unstored_bytes = part(snapshot.config.responses.memory)});
  rooms_.set_limits(snapshot.config.rooms);
  if (store::Sessions* sessions = world_.conversations.answers.store()) {
    sessions->set_keep(limits.conversation_ttl);
  }
  if (stored_keys_ != nullptr) stored_keys_->set_file_keys(snapshot.config.keys);
  if (shared_limits_ != nullptr) shared_limits_->set_keys(snapshot.access.keys());
}

Result<void> Service::listen(const Config& config) {
  const net::TlsFiles tls{.certificate = config.tls.cert, .key = config.tls.key};
  for (const std::string& text : config.listen) {
    auto endpoint = net::parse_endpoint(text.starts_with(':') ? "0.0.0.0" + text : text);
    if (!endpoint) return tl::unexpected(endpoint.error());
    const bool secure = !tls.certificate.empty() && endpoint->unix_path.empty();
    auto bound = workers_[0]->server.listen(*endpoint, secure ? &tls : nullptr);
    if (!bound) return tl::unexpected(bound.error());
    endpoints_.push_back(*bound);
  }
  for (std::size_t i = 1; i < workers_.size(); ++i) {
    if (auto shared = workers_[i]->server.listen_like(workers_[0]->server); !shared) return shared;
  }
  return {};
}

void Service::reload(std::function<void(const ReloadOutcome&)> tell) {
  {
    const std::lock_guard lock(mutex_);
    tell_reloaded_.push_back(std::move(tell));
  }
  reloads_.request();
}

void Service::reload_now() {
  std::vector<std::function<void(const ReloadOutcome&)>> told;
  {
    const std::lock_guard lock(mutex_);
    told.swap(tell_reloaded_);
  }
  const ReloadOutcome outcome = reload_and_log();
  for (const auto& tell : told) tell(outcome);
}

ReloadOutcome Service::reload_and_log() {
  Result<void> done;
  try {
    done = try_reload();
  } catch (const std::exception& fault) {
    done = Result<void>(fail(ErrorCode::internal, fault.what()));
  }
  world_.metrics.config_reloads.with(done ? "ok" : "failed").add();
  if (!done) {
    log_.error("reload failed, nothing changed: " + done.error().message);
    return tl::unexpected(done.error());
  }
  for (const std::string& notice : deprecations(snapshot()->config)) log_.warning(notice);
  const auto changes = changes_for_restart(started_with_, snapshot()->config);
  if (changes.empty()) {
    log_.info("configuration reloaded");
  } else {
    log_.warning("configuration reloaded; these changes need a restart: " + joined(changes));
  }
  return changes;
}

// All or nothing: until every loop has prepared itself and the tools are replaced, nothing has changed.
Result<void> Service::try_reload() {
  auto next = load_next();
  if (!next) return tl::unexpected(next.error());
  const auto tools = to_tool_set(next->snapshot->config);
  if (!tools) return tl::unexpected(tools.error());
  Result<void> ready = prepare_all(*next);
  if (ready && world_.tools != nullptr) ready = world_.tools->replace(*tools);
  if (ready) {
    use(*next);
  } else {
    on_all_loops([](Worker& worker) { worker.prepared.reset(); });
  }
  return ready;
}

Result<Service::Next> Service::load_next() {
  auto config = load_serve_config(options_);
  if (!config) return tl::unexpected(config.error());
  Next next;
  if (!started_with_.tls.cert.empty() && !config->tls.cert.empty()) {
    auto tls = net::make_server_tls(config->tls.cert, config->tls.key);
    if (!tls) return tl::unexpected(tls.error());
    next.tls = std::make_shared<const net::TlsContext>(std::move(*tls));
  }
  auto parts = load_parts(world_, *config, parts_.get());
  if (!parts) return tl::unexpected(parts.error());
  next.parts = std::move(*parts);
  Access access = make_access(*config, &snapshot()->access);
  next.snapshot =
      std::make_shared<const Snapshot>(std::move(*config), std::move(access), world_.catalogue);
  return next;
}

Result<void> Service::prepare_all(const Next& next) {
  struct Outcome {
    std::mutex mutex;
    std::size_t ready = 0;
    Error error{.message = "an event loop could not prepare itself"};
  };
  const auto outcome = std::make_shared<Outcome>();
  const bool all = on_all_loops([outcome, next](Worker& worker) {
    auto prepared = worker.gateway.prepare(next.snapshot, *next.parts);
    const std::lock_guard lock(outcome->mutex);
    if (!prepared) {
      outcome->error = prepared.error();
      return;
    }
    worker.prepared.emplace(std::move(*prepared));
    ++outcome->ready;
  });
  if (!all) return fail(ErrorCode::unavailable, "the gateway is shutting down");
  const std::lock_guard lock(outcome->mutex);
  if (outcome->ready < workers_.size()) return tl::unexpected(outcome->error);
  return {};
}

void Service::use(const Next& next) {
  {
    const std::lock_guard lock(mutex_);
    snapshot_ = next.snapshot;
  }
  use_limits(*next.snapshot);
  log_.set_level(*telemetry::to_log_level(next.snapshot->config.log.level));
  on_all_loops([this, next](Worker& worker) {
    worker.gateway.use(std::move(*worker.prepared));
    worker.prepared.reset();
    worker.server.use_options(server_options(next.snapshot->config, world_, random_seed()));
    if (next.tls != nullptr) worker.server.use_tls(*next.tls);
  });
  parts_ =
      next.parts;  // child programs that are no longer needed end here, and no loop waits for them
}

bool Service::on_all_loops(const std::function<void(Worker&)>& work) {
  const auto left = std::make_shared<std::size_t>(workers_.size());  // under the mutex
  for (auto& worker : workers_) {
    worker->loop.post([this, worker = worker.get(), own = work, left]() mutable {
      try {
        own(*worker);
      } catch (const std::exception& fault) {
        worker->loop.report_fault(fault.what());
      }
      own = nullptr;  // what it holds goes before the caller continues
      const std::lock_guard lock(mutex_);
      --*left;
      changed_.notify_all();
    });
  }
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return *left == 0 || stopped_; });
  return *left == 0;
}

void Service::drain() {
  loops_[0].post([this] { drain_or_stop(); });
}

void Service::drain_or_stop() {
  if (world_.draining.exchange(true)) {
    log_.warning("second signal: stopping at once");
    return stop();
  }
  log_.info("draining: open streams may finish, new requests are refused");
  loops_[0].spawn(wait_for_streams());
}

net::Task<> Service::wait_for_streams() {
  const auto limit = static_cast<std::uint64_t>(snapshot()->config.limits.drain_timeout.count());
  const std::uint64_t deadline = loops_[0].now() + limit;
  while (world_.streams.running() > 0 && loops_[0].now() < deadline)
    co_await loops_[0].sleep(net::Millis(20));
  if (world_.streams.running() > 0)
    log_.warning("drain deadline reached, cutting " + std::to_string(world_.streams.running()) +
                 " streams");
  rooms_.close_all();
  for (auto& worker : workers_) {
    worker->loop.post([server = &worker->server] { server->stop_accepting(); });
  }
  co_await loops_[0].sleep(net::Millis(50));  // lets the last bytes of finished answers leave
  stop();
}

void Service::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  loops_.stop();
}

std::shared_ptr<const Snapshot> Service::snapshot() const {
  const std::lock_guard lock(mutex_);
  return snapshot_;
}

}  // namespace callgate::server
