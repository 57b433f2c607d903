#include "gateway/gateway.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "admin/admin_routes.h"
#include "base/url_query.h"
#include "chat/token_estimate.h"
#include "front/admission.h"
#include "front/answer_headers.h"
#include "front/openapi.h"
#include "gateway/mcp_route.h"
#include "gateway/metrics_page.h"
#include "gateway/passthrough.h"
#include "inspector/inspector_routes.h"
#include "json/writer.h"
#include "net/unix_time.h"
#include "response/response_routes.h"
#include "room/room_socket.h"
#include "tool/host.h"
#include "turn/answer_session.h"
#include "turn/attempt.h"
#include "turn/connection_audience.h"
#include "turn/count_tokens.h"
#include "turn/event_stream.h"
#include "turn/loop_choice.h"
#include "turn/loop_run.h"
#include "turn/model/model_choice.h"
#include "turn/observe.h"
#include "turn/request_options.h"
#include "turn/turn_record.h"

namespace callgate::server {

namespace {

std::string_view find_header(const void* headers, std::string_view name) {
  return static_cast<const net::Headers*>(headers)->find(name).value_or("");
}

ClientRequest to_client_request(const net::RequestHead& head, std::string_view body) {
  return {.body = body,
          .path = head.path,
          .query = head.query,
          .header = find_header,
          .headers = &head.headers};
}

// How many upstreams are in which state, and for those who may know it which are not well.
void show_upstreams(json::ObjectWriter& object, const std::vector<UpstreamStatus>& all,
                    bool detailed) {
  std::int64_t well = 0;
  std::string out;
  for (const UpstreamStatus& upstream : all) {
    if (upstream.trouble.empty()) {
      ++well;
      continue;
    }
    out += out.empty() ? "" : ",";
    json::ObjectWriter row(out);
    row.string("name", upstream.name);
    row.string("reason", upstream.reason);
    row.close();
  }
  object.integer("upstreams", static_cast<std::int64_t>(all.size()));
  object.integer("upstreams_ejected", static_cast<std::int64_t>(all.size()) - well);
  if (detailed && !out.empty()) object.raw("ejected", "[" + out + "]");
}

// The MCP servers that are not ready, for those who may know it.
void show_tool_servers(json::ObjectWriter& object, const std::vector<tool::ServerStatus>& all,
                       bool detailed) {
  std::int64_t ready = 0;
  std::string out;
  for (const tool::ServerStatus& server : all) {
    if (server.state.kind == tool::SourceState::Kind::ready) {
      ++ready;
      continue;
    }
    out += out.empty() ? "" : ",";
    json::ObjectWriter row(out);
    row.string("name", server.name);
    row.string("state", tool::to_string(server.state.kind));
    if (!server.state.reason.empty()) row.string("reason", server.state.reason);
    row.close();
  }
  object.integer("tool_servers", static_cast<std::int64_t>(all.size()));
  object.integer("tool_servers_ready", ready);
  if (detailed && !out.empty()) object.raw("tool_servers_down", "[" + out + "]");
}

// What stands before the name of a model in a path.
std::string_view model_prefix(const Protocol& protocol) {
  for (const Endpoint& endpoint : protocol.endpoints) {
    if (endpoint.kind != Endpoint::Kind::model) continue;
    return endpoint.path.substr(0, endpoint.path.size() - 1);
  }
  return {};
}

}  // namespace

Result<std::shared_ptr<const UpstreamParts>> load_parts(World& world, const Config& config,
                                                        const UpstreamParts* before) {
  const auto health = [&world](const std::string& upstream) {
    return observe_child(world, upstream);
  };
  return load_upstream_parts(config, world.children, health, before);
}

Gateway::Gateway(World& world, Rooms& rooms, net::Loop& loop, std::uint64_t id_seed)
    : world_(world),
      rooms_(rooms),
      loop_(loop),
      mint_(id_seed),
      targets_(loop, world.conversations, ~id_seed) {
  const auto add = [this](std::string_view method, std::string_view path, Guard guard,
                          net::Task<> (Gateway::*member)(Ask&)) {
    routes_.add({method, path, guard, [this, member](Ask& ask) { return (this->*member)(ask); }});
  };
  add_response_routes(routes_, desk_,
                      [this](Ask& ask, std::string_view body) { return read_turn(ask, body); });
  for (const Protocol* protocol : client::all()) {
    for (const Endpoint& endpoint : protocol->endpoints) add_endpoint(endpoint);
  }
  add_log_routes(routes_, desk_);
  add_session_routes(routes_, desk_);
  add_loop_routes(routes_, desk_);
  add_conversation_routes(routes_, desk_);
  add_tool_routes(routes_, desk_);
  add_reload_route(routes_, desk_);
  add_upstream_routes(routes_, desk_);
  add_key_routes(routes_, desk_);
  add_room_routes(routes_, desk_, rooms_);
  add_mcp_routes(routes_, desk_);
  add_inspector_routes(routes_, desk_);
  add("GET", "/livez", Guard::open, &Gateway::livez);
  add("GET", "/readyz", Guard::open, &Gateway::readyz);
  add("GET", "/healthz", Guard::open, &Gateway::readyz);
  add("GET", "/metrics", Guard::metrics, &Gateway::metrics);
  add("GET", "/openapi.json", Guard::open, &Gateway::openapi);
  add("OPTIONS", "/*", Guard::open, &Gateway::preflight);
}

void Gateway::add_endpoint(const Endpoint& endpoint) {
  const auto add = [&](Guard guard, net::Task<> (Gateway::*member)(Ask&)) {
    routes_.add({endpoint.method, endpoint.path, guard,
                 [this, member](Ask& ask) { return (this->*member)(ask); }});
  };
  switch (endpoint.kind) {
    case Endpoint::Kind::turn:
      return add(Guard::model, &Gateway::answer_turn);
    case Endpoint::Kind::models:
      return add(Guard::key, &Gateway::list_models);
    case Endpoint::Kind::model:
      return add(Guard::key, &Gateway::show_model);
    case Endpoint::Kind::count_tokens:
      return add(Guard::key, &Gateway::count_tokens);
    case Endpoint::Kind::fixed:
      routes_.add({endpoint.method, endpoint.path, Guard::open,
                   [&endpoint](Ask& ask) { return respond_json(ask, 200, endpoint.answer); }});
      return;
  }
}

Result<Gateway::Prepared> Gateway::prepare(std::shared_ptr<const Snapshot> snapshot,
                                           const UpstreamParts& parts) {
  auto targets = targets_.prepare(snapshot->config.upstreams, parts);
  if (!targets) return tl::unexpected(targets.error());
  return Prepared{std::move(snapshot), std::move(*targets)};
}

void Gateway::use(Prepared prepared) noexcept {
  const Config& config = prepared.snapshot->config;
  world_.pools.use(config.upstreams, config.limits.retry_percent, loop_.now());
  targets_.use(std::move(prepared.targets));
  snapshot_ = std::move(prepared.snapshot);
  if (watch_ != nullptr) watch_->use(snapshot_);
}

Result<void> Gateway::apply(std::shared_ptr<const Snapshot> snapshot) {
  const auto parts = load_parts(world_, snapshot->config, nullptr);
  if (!parts) return tl::unexpected(parts.error());
  auto prepared = prepare(std::move(snapshot), **parts);
  if (!prepared) return tl::unexpected(prepared.error());
  use(std::move(*prepared));
  return {};
}

// No Error is made inside a co_await expression below: g++ 12 destroys such temporaries twice.
net::Task<> Gateway::answer(net::Exchange& exchange) {
  Ask ask{.exchange = exchange,
          .snapshot = snapshot_,
          .protocol = &client::for_request(to_client_request(exchange.head(), {})),
          .started_ms = loop_.now()};
  const std::string_view given = exchange.head().headers.find("x-request-id").value_or("");
  ask.id = is_acceptable_request_id(given) ? std::string(given)
                                           : mint_.mint_timed("req_", net::unix_ms());
  ask.headers.add("x-request-id", ask.id);
  if (!ask.protocol->id_header.empty()) ask.headers.add(ask.protocol->id_header, ask.id);
  add_cors(ask);
  std::string allow;
  auto route = routes_.find(exchange.head().method, exchange.head().path, allow);
  if (!allow.empty()) ask.headers.add("allow", allow);
  const bool relayed = !route && allow.empty() && may_pass_through(ask);
  if (relayed) route = &passthrough_;
  if (!route) co_return co_await refuse(ask, route.error());
  if ((*route)->guard != Guard::open) {
    const auto objection = object_to_page(ask, relayed ? BodyType::any : BodyType::json);
    if (objection) co_return co_await refuse(ask, objection->error, objection->status);
  }
  const auto admitted = admit(ask, **route);
  if (!admitted) co_return co_await refuse(ask, admitted.error());
  co_await (*route)->answer(ask);
}

// Who can start a gateway without keys on this machine may also read its log.
static Result<void> admit_admin(const Ask& ask) {
  const bool allowed =
      ask.key == nullptr ? listens_on_loopback_only(ask.snapshot->config) : ask.key->config.admin;
  if (allowed) return {};
  return fail(ErrorCode::forbidden,
              std::string(ask.exchange.head().path) + " needs a key with admin = true");
}

// A key where neither `authorization` nor `x-api-key` has it. Browsers cannot set headers of WebSockets.
static std::string offered_elsewhere(const Ask& ask) {
  const net::RequestHead& head = ask.exchange.head();
  const Protocol& protocol = *ask.protocol;
  if (!protocol.key_header.empty()) {
    const auto given = head.headers.find(protocol.key_header);
    if (given) return std::string(*given);
  }
  if (!protocol.key_parameter.empty()) {
    for (const UrlParameter& parameter : read_url_query(head.query)) {
      if (parameter.name == protocol.key_parameter) return parameter.value;
    }
  }
  return offered_key(head.headers);
}

Result<void> Gateway::admit(Ask& ask, const Route& route) {
  const std::string& readers = ask.snapshot->config.metrics;
  const bool to_metrics = route.guard == Guard::metrics;
  if (route.guard == Guard::open || (to_metrics && readers == "open")) return {};
  if (auto known = find_key(ask); !known) return known;
  if (route.guard == Guard::admin || (to_metrics && readers == "admin")) return admit_admin(ask);
  if (route.guard != Guard::model) return {};
  if (auto admitted = admit_address(world_, ask, ask.headers); !admitted) return admitted;
  return admit_turn(world_, *ask.snapshot, ask.key, ask.headers);
}

Result<void> Gateway::find_key(Ask& ask) {
  const net::Headers& headers = ask.exchange.head().headers;
  const std::string offered = offered_elsewhere(ask);
  return admit_key(world_, ask, headers.find("authorization").value_or(""),
                   headers.find("x-api-key").value_or(offered));
}

// What went wrong names servers, users and paths: a probe that asks whether the gateway is ready need not know them.
bool Gateway::is_operator(Ask& ask) {
  const net::Headers& headers = ask.exchange.head().headers;
  const bool has_key = headers.find("authorization") || headers.find("x-api-key");
  if (!ask.snapshot->access.open() && !has_key) return false;
  return !object_to_page(ask) && find_key(ask) && admit_admin(ask);
}

net::Task<> Gateway::answer_turn(Ask& ask) {
  const auto body = co_await read_turn_body(world_, ask);
  if (!body) co_return co_await refuse(ask, body.error());
  const TurnSlots slots(world_, ask.key, ask.address);
  const auto busy = slots.refusal();
  if (busy) co_return co_await refuse(ask, *busy);
  auto work = read_turn(ask, *body);
  if (!work) co_return co_await refuse(ask, work.error());
  ask.exchange.drop_body();
  const StreamGauge gauge(world_);
  if ((*work)->choice != nullptr) co_return co_await run_loop(ask, std::move(*work));
  ConnectionAudience audience(ask.exchange, std::move(ask.headers));
  co_await run_turn(desk_.turn_host(), std::move(*work), ask.exchange.head().headers, audience);
}

Result<std::unique_ptr<LoopWork>> Gateway::read_turn(Ask& ask, std::string_view body) {
  auto work = std::make_unique<LoopWork>();
  TurnJob& job = work->job;
  if (!job.reserve(world_.memory, body.size())) return tl::unexpected(out_of_memory());
  job.protocol = ask.protocol;
  job.protocol_name = job.protocol->name;
  auto request = job.protocol->decode(to_client_request(ask.exchange.head(), body));
  if (!request) return tl::unexpected(request.error());
  auto model = choose_for(*ask.snapshot, ask.key, *request);
  if (!model) return tl::unexpected(model.error());
  const net::RequestHead& head = ask.exchange.head();
  const std::string_view header = head.headers.find("x-callgate-dialect").value_or("");
  Result<DialectChoice> dialect = model->dialect;
  if (!header.empty()) dialect = choose_dialect(ask.snapshot->dialects, *model->config, header);
  if (!dialect) return tl::unexpected(dialect.error());
  if (!model->config->output_by_client.empty()) {
    choose_output(model->policy, head.headers.find("user-agent").value_or(""),
                  model->config->output_by_client);
  }
  auto options = read_options(head.headers, model->policy, head.query);
  if (!options) return tl::unexpected(options.error());
  const KeyConfig* key = ask.key == nullptr ? nullptr : &ask.key->config;
  const auto catalogue = world_.tools == nullptr ? nullptr : world_.tools->catalogue();
  auto loop = choose_loop(*request, head.headers, ask.snapshot->config, *model->config, key,
                          catalogue.get());
  if (!loop) return tl::unexpected(loop.error());
  loop->apply_to(options->policy);
  auto meter = admit_tokens(world_, {ask.snapshot, ask.key, *model->config, *request}, ask.headers);
  if (!meter) return tl::unexpected(meter.error());
  job.meter = std::move(*meter);
  const bool logged = logs_content(ask.snapshot->config, key, *model->config);
  const auto captured = begin_capture(ask, request->model, body, logged, loop->on);
  if (!captured) return tl::unexpected(captured.error());
  job.snapshot = ask.snapshot;
  job.key = ask.key;
  job.request_id = ask.id;
  job.session = session_of(head.headers);
  job.peer = ask.exchange.peer();
  job.started_ms = ask.started_ms;
  if (logged && job.copies.grow_to(body.size())) job.received = body;
  job.received_bytes = body.size();
  job.request = std::move(*request);
  job.model = std::move(*model);
  job.dialect = *dialect;
  job.options = std::move(*options);
  job.keepalive = wants_keepalive(head.headers);
  job.capture = std::move(ask.capture);
  if (loop->on) work->choice = std::make_unique<LoopChoice>(std::move(*loop));
  return work;
}

net::Task<> Gateway::run_loop(Ask& ask, std::unique_ptr<LoopWork> work) {
  ConnectionAudience audience(ask.exchange, std::move(ask.headers));
  LoopRun run(desk_.turn_host(), std::move(*work), ask.exchange.head().headers, audience,
              LoopRun::Wants::bytes);
  work.reset();
  co_await run.run();
}

Result<void> Gateway::begin_capture(Ask& ask, std::string_view model, std::string_view body,
                                    bool logged, bool loop) {
  const Config& config = ask.snapshot->config;
  const net::RequestHead& head = ask.exchange.head();
  const auto wanted = wants_capture(config, head.headers.find(kCaptureHeader).value_or(""),
                                    ask.key == nullptr ? nullptr : &ask.key->config, model);
  if (!wanted) return tl::unexpected(wanted.error());
  const bool watched = world_.live.is_watched();
  const bool brief = !*wanted && logged && (config.capture.recent > 0 || watched);
  if (!*wanted && !brief) return {};
  ask.capture = Capture::make(world_.captures, config.capture,
                              {.request_id = ask.id,
                               .key = ask.key == nullptr ? "" : ask.key->config.name,
                               .time_ms = net::unix_ms(),
                               .model = std::string(model),
                               .protocol = std::string(ask.protocol->name),
                               .secrets = ask.snapshot->secrets,
                               .brief = brief,
                               .answer = watched && loop});
  if (ask.capture == nullptr) return {};
  ask.capture->client_asked(head, brief ? std::string_view{} : body);
  if (brief) return {};
  ask.headers.add(kCaptureHeader, ask.id);
  return {};
}

net::Task<> Gateway::list_models(Ask& ask) {
  const std::vector<ListedModel> listed = ask.snapshot->list_models(ask.key);
  std::vector<ModelEntry> models;
  for (const ListedModel& model : listed) {
    models.push_back({model.name, model.owner, model.created});
  }
  co_await respond_json(ask, 200, ask.protocol->print_models(models));
}

net::Task<> Gateway::count_tokens(Ask& ask) {
  const auto body = co_await read_body(world_, ask);
  if (!body) co_return co_await refuse(ask, body.error());
  const auto request = ask.protocol->decode(to_client_request(ask.exchange.head(), *body));
  if (!request) co_return co_await refuse(ask, request.error());
  const auto model = ask.snapshot->choose_model(ask.key, request->model);
  if (!model) co_return co_await refuse(ask, model.error());
  const TurnSlots slots(world_, ask.key, ask.address);
  const auto busy = slots.refusal();
  if (busy) co_return co_await refuse(ask, *busy);
  const TurnHost host = desk_.turn_host();
  std::optional<std::int64_t> tokens = co_await ask_count(host, *ask.snapshot, *model, *request);
  if (!tokens) {
    ask.headers.add(kEstimatedHeader, "estimated");
    tokens = estimate_tokens(*request);
  }
  co_await respond_json(ask, 200, ask.protocol->print_token_count(*tokens));
}

net::Task<> Gateway::show_model(Ask& ask) {
  const auto name = co_await named_model(ask);
  if (!name) co_return co_await refuse(ask, name.error());
  const auto model = ask.snapshot->choose_model(ask.key, *name);
  if (!model) co_return co_await refuse(ask, model.error());
  std::int64_t created = ask.snapshot->loaded_at;
  for (const ListedModel& listed : ask.snapshot->list_models(ask.key)) {
    if (listed.name == *name) created = listed.created;
  }
  const ModelEntry entry{*name, model->config->upstream.front(), created};
  co_await respond_json(ask, 200, ask.protocol->print_model(entry));
}

net::Task<Result<std::string>> Gateway::named_model(Ask& ask) {
  const net::RequestHead& head = ask.exchange.head();
  if (ask.protocol->named_model == nullptr) {
    co_return percent_decoded(head.path.substr(model_prefix(*ask.protocol).size()));
  }
  const auto body = co_await read_body(world_, ask);
  if (!body) co_return tl::unexpected(body.error());
  co_return ask.protocol->named_model(to_client_request(head, *body));
}

net::Task<> Gateway::livez(Ask& ask) {
  co_await respond_json(ask, 200, "{\"status\":\"ok\",\"service\":\"callgate\"}");
}

net::Task<> Gateway::openapi(Ask& ask) {
  const std::string description = print_openapi(routes_.all());
  co_await respond_json(ask, 200, description);
}

net::Task<> Gateway::readyz(Ask& ask) {
  const bool draining = world_.draining.load(std::memory_order_relaxed);
  const bool maintenance = ask.snapshot->config.maintenance;
  const store::Health health = world_.requests.health();
  const bool closed = ask.snapshot->config.store.when_down == "closed" && !health.healthy;
  std::string body;
  json::ObjectWriter object(body);
  object.string("status", draining      ? "draining"
                          : maintenance ? "maintenance"
                          : closed      ? "store down"
                                        : "ready");
  object.string("store", health.healthy ? "ok" : "down");
  const auto upstreams = world_.pools.status(loop_.now());
  const bool ejected = std::any_of(upstreams.begin(), upstreams.end(),
                                   [](const auto& one) { return !one.trouble.empty(); });
  const auto servers =
      world_.tools == nullptr ? std::vector<tool::ServerStatus>() : world_.tools->servers();
  const bool down = std::any_of(servers.begin(), servers.end(), [](const auto& one) {
    return one.state.kind != tool::SourceState::Kind::ready;
  });
  const bool troubled = !health.healthy || !health.notice.empty() || ejected || down;
  const bool detailed = troubled && is_operator(ask);
  if (detailed) {
    if (!health.healthy) object.string("store_problem", health.problem);
    if (!health.notice.empty()) object.string("notice", health.notice);
  }
  object.integer("store_dropped", static_cast<std::int64_t>(health.dropped));
  object.integer("store_shed", static_cast<std::int64_t>(health.shed));
  object.integer("store_journal_bytes", static_cast<std::int64_t>(health.journal_bytes));
  const std::size_t models = ask.snapshot->finder.list().size();
  object.integer("models", static_cast<std::int64_t>(models));
  show_upstreams(object, upstreams, detailed);
  show_tool_servers(object, servers, detailed);
  object.integer("streams", world_.streams.running());
  object.integer("memory_used", static_cast<std::int64_t>(world_.memory.used()));
  object.integer("memory_limit", static_cast<std::int64_t>(world_.memory.limit()));
  object.integer("memory_refused", static_cast<std::int64_t>(world_.memory.refused()));
  object.integer("memory_shed", static_cast<std::int64_t>(world_.memory.shed()));
  object.close();
  // A failing store stops requests only if the configuration says so; otherwise it is only reported.
  co_await respond_json(ask, draining || maintenance || closed ? 503 : 200, body);
}

net::Task<> Gateway::metrics(Ask& ask) {
  ask.headers.add("content-type", "text/plain; version=0.0.4; charset=utf-8");
  co_await ask.exchange.respond(200, ask.headers, render_metrics(world_, rooms_, loop_.now()));
}

net::Task<> Gateway::preflight(Ask& ask) {
  ask.headers.add("access-control-allow-methods", "GET, POST, DELETE, OPTIONS");
  const auto wanted = ask.exchange.head().headers.find("access-control-request-headers");
  ask.headers.add("access-control-allow-headers", wanted.value_or("authorization, content-type"));
  ask.headers.add("access-control-max-age", "600");
  co_await ask.exchange.respond(204, ask.headers, "");
}

void Gateway::add_cors(Ask& ask) {
  const std::string_view origin = ask.exchange.head().headers.find("origin").value_or("");
  if (origin.empty()) return;
  const Config& config = ask.snapshot->config;
  const std::string_view allowed =
      allowed_origin(origin, config.cors.origins, listens_on_loopback_only(config));
  if (allowed.empty()) return;
  ask.headers.add("access-control-allow-origin", allowed);
  ask.headers.add("access-control-expose-headers", exposed_headers());
  if (allowed != "*") ask.headers.add("vary", "origin");
}

}  // namespace callgate::server
