#include "gateway/serve.h"

#include <malloc.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <random>

#include "base/ids.h"
#include "config/config_text.h"
#include "config/tool_config.h"
#include "gateway/memory_limit.h"
#include "gateway/serve_options.h"
#include "gateway/service.h"
#include "net/keeper.h"
#include "net/url.h"
#include "telemetry/span_exporter.h"
#include "tool/host.h"

namespace callgate::server {
namespace {

// MCP servers may need a while to list their tools; the gateway does not wait for the slow ones.
constexpr net::Millis kToolPatience{2'000};

// nullptr when nothing is stored.
std::unique_ptr<store::Sessions> make_sessions(const Config& config, telemetry::Logger& log) {
  if (config.store.url == "none") return nullptr;
  std::random_device device;
  const std::uint64_t seed = (std::uint64_t{device()} << 32) | device();
  return std::make_unique<store::Sessions>(config.store.url, IdMint(seed).mint("node_"),
                                           sessions_options(config, log));
}

// nullptr when nothing is to be traced.
Result<std::unique_ptr<telemetry::SpanExporter>> make_span_exporter(const OtlpConfig& config,
                                                                    telemetry::Logger& log) {
  if (config.endpoint.empty()) return std::unique_ptr<telemetry::SpanExporter>();
  return telemetry::SpanExporter::make(span_options(config), log);
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
  tool::ServerObserver servers = [&log](const tool::ServerStatus& server) {
    const std::string who = "tool server " + server.name;
    const std::string is(tool::to_string(server.state.kind));
    if (server.state.kind == tool::SourceState::Kind::ready) {
      log.info(who + " is ready", {{"tools", server.tools}});
    } else {
      log.repeated(telemetry::LogLevel::warning, who,
                   who + " is " + is + ": " + server.state.reason);
    }
  };
  return tool::ToolHost::start(
      *set,
      [&log](std::string_view what) {
        log.repeated(telemetry::LogLevel::warning, what.substr(0, what.find(':')), what);
      },
      std::move(observe), std::move(servers));
}

// Large blocks go back to the system as soon as they are free. By default the allocator learns to keep them, and the process
// would hold far more than its requests do.
void tune_allocator() {
  ::mallopt(M_MMAP_THRESHOLD, 256 << 10);
  ::mallopt(M_TRIM_THRESHOLD, 1 << 20);
}

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

// Nothing has been stored there yet, as far as that can be seen: of a database server it cannot.
bool is_new_store(std::string_view url) {
  constexpr std::string_view kSqlite = "sqlite:";
  if (!url.starts_with(kSqlite)) return url != "none";
  std::error_code fault;
  return !std::filesystem::exists(std::string(url.substr(kSqlite.size())), fault);
}

// People should know what is kept of what they say.
void announce_store(const Config& config, telemetry::Logger& log) {
  const StoreConfig& store = config.store;
  const std::string kept =
      store.keep.count() == 0 ? "forever" : "for " + print_duration(store.keep);
  if (store.content) {
    log.info("requests and answers are stored " + kept +
                 "; store.content = false stores who, when and how much only, store.url = \"none\" "
                 "stores nothing",
             {{"store", store::shown_url(store.url)}});
  } else {
    log.info("who asks, when and how much is stored " + kept + ", no content",
             {{"store", store::shown_url(store.url)}});
  }
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
  net::close_memory_to_others();
  tune_allocator();
  auto config = load_serve_config(options);
  if (!config) return tl::unexpected(config.error());
  if (!serves_anything(*config)) {
    return fail(ErrorCode::invalid_request,
                "there is no [[model]] to serve, and no [[upstream]] with models; write a "
                "configuration file with "
                "`callgate config init`, or use --demo");
  }
  telemetry::Logger log({.level = *telemetry::to_log_level(config->log.level),
                         .format = *telemetry::to_log_format(config->log.format)});
  const telemetry::LogRescue rescue(log);
  for (const std::string& notice : deprecations(*config)) log.warning(notice);
  telemetry::Metrics metrics;
  StoreConfig store = config->store;
  store.queue_bytes.count = std::min(store.queue_bytes.count, memory_limit(config->limits) / 8);
  const bool is_new = is_new_store(store.url);
  auto requests = store::make_request_log(store.url, store_options(store, log));
  if (!requests) return tl::unexpected(requests.error());
  const std::unique_ptr<store::Sessions> sessions = make_sessions(*config, log);
  auto spans = make_span_exporter(config->otlp, log);
  if (!spans) return tl::unexpected(spans.error());
  const auto tools = start_tools(*config, log, metrics);
  if (!tools) return tl::unexpected(tools.error());
  (void)(*tools)->wait_until_listed(kToolPatience);
  Service service(options, *config,
                  {.log = log,
                   .metrics = metrics,
                   .requests = **requests,
                   .sessions = sessions.get(),
                   .spans = spans->get(),
                   .tools = tools->get()});
  service.handle_signals();
  if (auto started = service.start(); !started) return started;
  if (is_new) announce_store(*config, log);
  announce(service.endpoints(), !config->tls.cert.empty(), options);
  service.join();
  log.info("stopped");
  return {};
}

}  // namespace callgate::server
