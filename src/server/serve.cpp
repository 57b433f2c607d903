#include "server/serve.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <random>
#include <thread>

#include "access/shared_limits.h"
#include "admin/query_pool.h"
#include "callgate/version.h"
#include "client/protocol.h"
#include "config/tool_config.h"
#include "net/loop.h"
#include "net/server.h"
#include "server/gateway.h"
#include "telemetry/span_exporter.h"

namespace callgate::server {
namespace {

// MCP servers may need a while to list their tools; the gateway does not wait for the slow ones.
constexpr net::Millis kToolPatience{2'000};

net::ServerOptions server_options(const Config& config, World& world) {
  const LimitsConfig& limits = config.limits;
  const auto millis = [](Milliseconds value) { return net::Millis(value.count()); };
  net::ServerOptions options;
  options.limits.head_bytes = limits.max_header_bytes.count;
  options.limits.header_count = static_cast<std::size_t>(limits.max_headers);
  options.limits.body_bytes = limits.max_body.count;
  options.head_timeout = millis(limits.header_timeout);
  options.body_idle_timeout = millis(limits.body_timeout);
  options.keep_alive_timeout = millis(limits.keep_alive_timeout);
  options.write_stall_timeout = millis(limits.write_timeout);
  options.error_body = [](int status, std::string_view message) {
    const ErrorCode code = status >= 500 ? ErrorCode::internal : ErrorCode::invalid_request;
    return client::find("openai_chat")
        ->error_body({.code = code, .message = std::string(message), .status = status});
  };
  options.open_connections = &world.connections;
  options.max_connections = limits.max_connections;
  options.log = [&world](std::string_view what) {
    world.metrics.exceptions.with().add();
    world.log.repeated(telemetry::LogLevel::error, "net", what);
  };
  return options;
}

ConversationLimits conversation_limits(const LimitsConfig& limits) {
  ConversationLimits all;
  all.answers = static_cast<std::size_t>(limits.conversations);
  all.ttl_ms = static_cast<std::uint64_t>(limits.conversation_ttl.count());
  return all;
}

std::uint64_t random_seed() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) | device();
}

store::RequestLogOptions store_options(const StoreConfig& config, telemetry::Logger& log) {
  store::RequestLogOptions options;
  options.queue_limit = static_cast<std::size_t>(config.queue);
  options.queue_bytes = config.queue_bytes.count;
  if (config.when_down == "open") options.journal = config.journal;
  options.journal_bytes = config.journal_bytes.count;
  options.keep = config.keep;
  options.keep_bytes = config.keep_bytes.count;
  options.connect_timeout = config.connect_timeout;
  options.statement_timeout = config.statement_timeout;
  options.synchronous =
      config.synchronous == "full" ? store::Synchronous::full : store::Synchronous::normal;
  options.on_problem = [&log](std::string_view problem) {
    log.error("store: " + std::string(problem));
  };
  return options;
}

// nullptr when nothing is stored.
std::unique_ptr<store::Sessions> make_sessions(const Config& config, telemetry::Logger& log) {
  if (config.store.url == "none") return nullptr;
  store::SessionsOptions options;
  options.database.synchronous = store_options(config.store, log).synchronous;
  options.database.connect_timeout = config.store.connect_timeout;
  options.database.statement_timeout = config.store.statement_timeout;
  options.keep = config.limits.conversation_ttl;
  options.on_problem = [&log](std::string_view problem) {
    log.error("store: " + std::string(problem));
  };
  return std::make_unique<store::Sessions>(config.store.url, IdMint(random_seed()).mint("node_"),
                                           std::move(options));
}

// nullptr when nothing is to be traced.
Result<std::unique_ptr<telemetry::SpanExporter>> make_span_exporter(const OtlpConfig& config,
                                                                    telemetry::Logger& log) {
  if (config.endpoint.empty()) return std::unique_ptr<telemetry::SpanExporter>();
  telemetry::SpanExporterOptions options;
  options.endpoint = config.endpoint;
  options.headers = config.headers;
  options.service = config.service_name;
  options.ca_file = config.ca_file;
  options.queue = static_cast<std::size_t>(config.queue);
  options.batch = static_cast<std::size_t>(config.batch);
  options.interval = net::Millis(config.interval.count());
  options.timeout = net::Millis(config.timeout.count());
  options.sample_ratio = config.sample_ratio;
  return telemetry::SpanExporter::make(std::move(options), log);
}

// Also without tools: a reload may bring some.
Result<std::unique_ptr<tool::ToolHost>> start_tools(const Config& config, telemetry::Logger& log,
                                                    telemetry::Metrics& metrics) {
  const auto set = to_tool_set(config);
  if (!set) return tl::unexpected(set.error());
  tool::HookObserver observe = [&log, &metrics](const tool::HookNotice& notice) {
    metrics.hook_questions.with(notice.hook, notice.when, notice.outcome).add();
    if (notice.fault.empty()) return;
    const std::string hook = "hook " + std::string(notice.hook);
    const std::string asked = ", " + std::string(notice.when) + " " + std::string(notice.tool);
    log.repeated(telemetry::LogLevel::warning, hook,
                 hook + asked + ": " + std::string(notice.fault));
  };
  return tool::ToolHost::start(
      *set, [&log](std::string_view what) { log.warning(what); }, std::move(observe));
}

// One loop with its gateway and its listeners.
struct Worker {
  Worker(net::Loop& own_loop, World& world, const Config& config)
      : loop(own_loop),
        gateway(world, own_loop, random_seed()),
        server(own_loop, server_options(config, world),
               [this](net::Exchange& exchange) { return gateway.answer(exchange); }) {}
  net::Loop& loop;
  Gateway gateway;
  net::HttpServer server;
};

class Service {
 public:
  Service(ServeOptions options, const Config& config, telemetry::Logger& log,
          telemetry::Metrics& metrics, store::RequestLog& requests, store::Sessions* sessions,
          telemetry::SpanExporter* spans, tool::ToolHost* tools)
      : options_(std::move(options)),
        log_(log),
        world_(log, metrics, requests, config.limits.max_streams),
        loops_(config.threads > 0 ? static_cast<std::size_t>(config.threads)
                                  : std::max(1u, std::thread::hardware_concurrency())) {
    world_.spans = spans;
    world_.tools = tools;
    const bool closed = config.store.when_down == "closed";
    world_.conversations.answers.set_store(sessions, closed);
    world_.memories.set_store(sessions);
    if (sessions != nullptr && sessions->shared()) {
      world_.conversations.claims.set_leases(sessions, closed);
      shared_limits_ = std::make_unique<SharedLimits>(*sessions);
      world_.limits = shared_limits_.get();
    }
    world_.queries = &queries_;
    for (std::size_t i = 0; i < loops_.size(); ++i) {
      workers_.push_back(std::make_unique<Worker>(loops_[i], world_, config));
    }
  }

  Result<void> start(Config config) {
    snapshot_ = std::make_shared<Snapshot>(config, Access(config.keys, nullptr));
    use_limits(*snapshot_);
    for (auto& worker : workers_) {
      if (auto applied = worker->gateway.apply(snapshot_); !applied) return applied;
    }
    if (auto bound = listen(config); !bound) return bound;
    const auto drain = [this] { drain_or_stop(); };
    loops_[0].on_signal(SIGTERM, drain);
    loops_[0].on_signal(SIGINT, drain);
    loops_[0].on_signal(SIGHUP, [this] { reload(); });
    loops_.start();
    return {};
  }

  const std::vector<net::Endpoint>& endpoints() const { return endpoints_; }
  void join() { loops_.join(); }

 private:
  void use_limits(const Snapshot& snapshot) {
    const LimitsConfig& limits = snapshot.config.limits;
    world_.conversations.cache.set_limits(conversation_limits(limits));
    const LoopConfig& loop = snapshot.config.loop;
    world_.loop_states.set_limits(loop.state_bytes.count,
                                  static_cast<std::uint64_t>(loop.state_ttl.count()));
    world_.memories.set_limits({.messages = loop.memory_messages,
                                .bytes = static_cast<std::int64_t>(loop.memory_bytes.count),
                                .ttl = loop.memory_ttl,
                                .unstored_bytes = loop.memory_unstored_bytes.count});
    world_.rooms.set_limits(snapshot.config.rooms);
    if (store::Sessions* sessions = world_.conversations.answers.store()) {
      sessions->set_keep(limits.conversation_ttl);
    }
    if (shared_limits_ != nullptr) shared_limits_->set_keys(snapshot.access.keys());
  }

  Result<void> listen(const Config& config) {
    const net::TlsFiles tls{.certificate = config.tls.cert, .key = config.tls.key};
    for (const std::string& text : config.listen) {
      auto endpoint = net::parse_endpoint(text);
      if (!endpoint) return tl::unexpected(endpoint.error());
      const bool secure = !tls.certificate.empty() && endpoint->unix_path.empty();
      auto bound = workers_[0]->server.listen(*endpoint, secure ? &tls : nullptr);
      if (!bound) return tl::unexpected(bound.error());
      endpoints_.push_back(*bound);
    }
    for (std::size_t i = 1; i < workers_.size(); ++i) {
      if (auto shared = workers_[i]->server.listen_like(workers_[0]->server); !shared)
        return shared;
    }
    return {};
  }

  // All or nothing: a file with a mistake changes nothing and is reported.
  void reload() {
    auto config = load_serve_config(options_);
    if (!config) {
      log_.error("reload failed, nothing changed: " + config.error().message);
      world_.metrics.config_reloads.with("failed").add();
      return;
    }
    Access access(config->keys, &snapshot_->access);
    auto next = std::make_shared<Snapshot>(std::move(*config), std::move(access));
    Result<void> applied = workers_[0]->gateway.apply(next);
    if (applied) {
      applied = world_.tools->replace(*to_tool_set(next->config));
      if (!applied) static_cast<void>(workers_[0]->gateway.apply(snapshot_));
    }
    if (!applied) {
      log_.error("reload failed, nothing changed: " + applied.error().message);
      world_.metrics.config_reloads.with("failed").add();
      return;
    }
    snapshot_ = next;
    use_limits(*next);
    for (std::size_t i = 1; i < workers_.size(); ++i) {
      workers_[i]->loop.post(
          [worker = workers_[i].get(), next] { static_cast<void>(worker->gateway.apply(next)); });
    }
    world_.metrics.config_reloads.with("ok").add();
    log_.info("configuration reloaded; listen, threads, tls, log, store and otlp need a restart");
  }

  void drain_or_stop() {
    if (world_.draining.exchange(true)) {
      log_.warning("second signal: stopping at once");
      loops_.stop();
      return;
    }
    log_.info("draining: open streams may finish, new requests are refused");
    loops_[0].spawn(drain());
  }

  net::Task<> drain() {
    const std::uint64_t deadline =
        loops_[0].now() +
        static_cast<std::uint64_t>(snapshot_->config.limits.drain_timeout.count());
    while (world_.streams.running() > 0 && loops_[0].now() < deadline)
      co_await loops_[0].sleep(net::Millis(20));
    if (world_.streams.running() > 0)
      log_.warning("drain deadline reached, cutting " + std::to_string(world_.streams.running()) +
                   " streams");
    world_.rooms.close_all();
    for (auto& worker : workers_) {
      worker->loop.post([server = &worker->server] { server->stop_accepting(); });
    }
    co_await loops_[0].sleep(net::Millis(50));  // lets the last bytes of finished answers leave
    loops_.stop();
  }

  ServeOptions options_;
  telemetry::Logger& log_;
  World world_;
  std::unique_ptr<SharedLimits> shared_limits_;  // nullptr: the store is this gateway's own
  net::LoopGroup loops_;
  QueryPool queries_;  // goes before the loops that it posts to
  std::vector<std::unique_ptr<Worker>> workers_;
  std::shared_ptr<Snapshot> snapshot_;
  std::vector<net::Endpoint> endpoints_;
};

void announce(const std::vector<net::Endpoint>& endpoints, bool tls, const ServeOptions& options) {
  for (const net::Endpoint& endpoint : endpoints) {
    const bool is_unix = !endpoint.unix_path.empty();
    const std::string url = std::string(is_unix ? ""
                                        : tls   ? "https://"
                                                : "http://") +
                            net::to_text(endpoint);
    std::printf("listening on %s\n", url.c_str());
    if (options.greet && !is_unix) std::printf("%s", options.greet(url).c_str());
  }
  std::fflush(stdout);
}

}  // namespace

Result<Config> load_serve_config(const ServeOptions& options) {
  ConfigSource source = options.source;
  auto config = load_config(source);
  if (!config) return config;
  if (!options.listen.empty()) config->listen = options.listen;
  if (options.amend) options.amend(*config);
  if (auto checked = check_config(*config); !checked) return tl::unexpected(checked.error());
  return config;
}

Result<void> run_serve(const ServeOptions& options) {
  auto config = load_serve_config(options);
  if (!config) return tl::unexpected(config.error());
  if (config->models.empty()) {
    return fail(ErrorCode::invalid_request,
                "there is no [[model]] to serve; write a configuration file (docs/config.md) or "
                "use --demo");
  }
  telemetry::Logger log({.level = *telemetry::to_log_level(config->log.level),
                         .format = *telemetry::to_log_format(config->log.format)});
  const telemetry::LogRescue rescue(log);
  for (const std::string& notice : deprecations(*config)) log.warning(notice);
  telemetry::Metrics metrics;
  auto requests = store::make_request_log(config->store.url, store_options(config->store, log));
  if (!requests) return tl::unexpected(requests.error());
  const std::unique_ptr<store::Sessions> sessions = make_sessions(*config, log);
  auto spans = make_span_exporter(config->otlp, log);
  if (!spans) return tl::unexpected(spans.error());
  const auto tools = start_tools(*config, log, metrics);
  if (!tools) return tl::unexpected(tools.error());
  (void)(*tools)->wait_until_listed(kToolPatience);
  Service service(options, *config, log, metrics, **requests, sessions.get(), spans->get(),
                  tools->get());
  if (auto started = service.start(*config); !started) return started;
  announce(service.endpoints(), !config->tls.cert.empty(), options);
  service.join();
  log.info("stopped");
  return {};
}

}  // namespace callgate::server
