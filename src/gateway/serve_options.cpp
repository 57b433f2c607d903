#include "gateway/serve_options.h"

#include "base/ids.h"
#include "client/protocol.h"
#include "net/unix_time.h"

namespace callgate::server {
namespace {

net::Millis millis(Milliseconds value) { return net::Millis(value.count()); }

void report(World& world, std::string_view key, std::string_view what) {
  world.metrics.exceptions.with().add();
  world.log.repeated(telemetry::LogLevel::error, key, what);
}

// As the gateway says it: in the words of the path's protocol, under an id.
std::string refusal_body(IdMint& mint, int status, std::string_view message, std::string_view path,
                         net::Headers& headers) {
  const Protocol& protocol = client::for_path(path);
  const std::string id = mint.mint_timed("req_", net::unix_ms());
  headers.add("x-request-id", id);
  if (!protocol.id_header.empty()) headers.add(protocol.id_header, id);
  const ErrorCode code = status >= 500 ? ErrorCode::internal : ErrorCode::invalid_request;
  return protocol.error_body(
      {.code = code, .message = std::string(message), .status = status, .request_id = id});
}

std::function<void(std::string_view)> store_problems(telemetry::Logger& log) {
  return [&log](std::string_view problem) { log.error("store: " + std::string(problem)); };
}

}  // namespace

net::ServerOptions server_options(const Config& config, World& world, std::uint64_t id_seed) {
  const LimitsConfig& limits = config.limits;
  net::ServerOptions options;
  options.limits.head_bytes = limits.max_header_bytes.count;
  options.limits.header_count = static_cast<std::size_t>(limits.max_headers);
  options.limits.body_bytes = limits.max_body.count;
  options.head_timeout = millis(limits.header_timeout);
  options.body_idle_timeout = millis(limits.body_timeout);
  options.min_body_rate = limits.min_body_rate.count;
  options.keep_alive_timeout = millis(limits.keep_alive_timeout);
  options.write_stall_timeout = millis(limits.write_timeout);
  auto mint = std::make_shared<IdMint>(id_seed);
  options.error_body = [mint](int status, std::string_view message, std::string_view path,
                              net::Headers& headers) {
    return refusal_body(*mint, status, message, path, headers);
  };
  options.memory = &world.memory;
  options.open_connections = &world.connections;
  options.max_connections = limits.max_connections;
  options.log = [&world](std::string_view what) { report(world, "net", what); };
  return options;
}

ConversationLimits conversation_limits(const LimitsConfig& limits) {
  ConversationLimits all;
  all.answers = static_cast<std::size_t>(limits.conversations);
  all.ttl_ms = static_cast<std::uint64_t>(limits.conversation_ttl.count());
  return all;
}

store::RequestLogOptions store_options(const StoreConfig& config, telemetry::Logger& log) {
  store::RequestLogOptions options;
  options.queue_limit = static_cast<std::size_t>(config.queue);
  options.queue_bytes = config.queue_bytes.count;
  if (config.when_down == "open") options.journal = config.journal;
  options.journal_bytes = config.journal_bytes.count;
  options.recreate = config.when_down == "open";
  options.keep = config.keep;
  options.keep_bytes = config.keep_bytes.count;
  options.connect_timeout = config.connect_timeout;
  options.statement_timeout = config.statement_timeout;
  options.synchronous =
      config.synchronous == "full" ? store::Synchronous::full : store::Synchronous::normal;
  options.on_problem = store_problems(log);
  return options;
}

store::SessionsOptions sessions_options(const Config& config, telemetry::Logger& log) {
  store::SessionsOptions options;
  options.database.synchronous = store_options(config.store, log).synchronous;
  options.database.connect_timeout = config.store.connect_timeout;
  options.database.statement_timeout = config.store.statement_timeout;
  options.keep = config.limits.conversation_ttl;
  options.tick_alone = true;
  options.on_problem = store_problems(log);
  return options;
}

telemetry::SpanExporterOptions span_options(const OtlpConfig& config) {
  telemetry::SpanExporterOptions options;
  options.endpoint = config.endpoint;
  options.headers = config.headers;
  options.service = config.service_name;
  options.ca_file = config.ca_file;
  options.queue = static_cast<std::size_t>(config.queue);
  options.batch = static_cast<std::size_t>(config.batch);
  options.interval = millis(config.interval);
  options.timeout = millis(config.timeout);
  options.sample_ratio = config.sample_ratio;
  return options;
}

void report_faults(net::Loop& loop, World& world) {
  loop.set_fault_log([&world](std::string_view what) {
    report(world, "task", "a task broke off: " + std::string(what));
  });
}

}  // namespace callgate::server
