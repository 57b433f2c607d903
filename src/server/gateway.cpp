#include "server/gateway.h"

#include <algorithm>
#include <array>
#include <chrono>

#include "dialect/models.h"
#include "dialect/render.h"
#include "json/writer.h"
#include "server/answer_session.h"
#include "server/attempt.h"
#include "server/capture_mask.h"
#include "server/config_text.h"
#include "server/connection_audience.h"
#include "server/event_stream.h"
#include "server/log_query.h"
#include "server/loop_choice.h"
#include "server/loop_run.h"
#include "server/observe.h"
#include "server/refusal.h"
#include "server/request_options.h"
#include "server/room_socket.h"
#include "server/shared_limits.h"
#include "server/turn_record.h"
#include "server/turn_trace.h"
#include "server/url_query.h"
#include "tool/host.h"

namespace callgate::server {

struct Gateway::Route {
  std::string_view method;
  std::string_view path;  // a final `/*` matches one or more segments
  net::Task<> (Gateway::*answer)(Ask&);
  enum class Guard : std::uint8_t { open, key, model, admin } guard;
};

namespace {

std::chrono::nanoseconds monotonic_now() {
  return std::chrono::steady_clock::now().time_since_epoch();
}

// As OpenAI writes them: 1s, 6m0s, 250ms.
std::string reset_text(std::chrono::nanoseconds value) {
  const auto ms = std::chrono::duration_cast<Milliseconds>(value).count();
  if (ms < 1000) return std::to_string(ms) + "ms";
  const auto seconds = (ms + 999) / 1000;
  if (seconds < 60) return std::to_string(seconds) + "s";
  return std::to_string(seconds / 60) + "m" + std::to_string(seconds % 60) + "s";
}

void add_rate_headers(net::Headers& headers, const RateLimit::Verdict& verdict) {
  headers.add("x-ratelimit-limit-requests", std::to_string(verdict.limit));
  headers.add("x-ratelimit-remaining-requests", std::to_string(verdict.remaining));
  headers.add("x-ratelimit-reset-requests", reset_text(verdict.reset));
  if (verdict.allowed) return;
  const auto ms = std::chrono::ceil<Milliseconds>(verdict.retry_after).count();
  headers.add("retry-after", std::to_string((ms + 999) / 1000));
  headers.add("retry-after-ms", std::to_string(ms));
}

Error no_capture(std::string_view id) {
  return {.code = ErrorCode::not_found,
          .message = "there is no capture of \"" + std::string(id) +
                     "\" in memory: only the latest turns that failed, lost data or look like a "
                     "missed call stay there, see capture.recent"};
}

bool path_matches(std::string_view pattern, std::string_view path) {
  if (!pattern.ends_with("/*")) return pattern == path;
  pattern.remove_suffix(1);
  return path.size() > pattern.size() && path.starts_with(pattern);
}

void append_model(std::string& out, const ModelConfig& model) {
  json::ObjectWriter object(out);
  object.string("id", model.name);
  object.string("object", "model");
  object.integer("created", 0);
  object.string("owned_by", model.upstream.front());
  object.close();
}

Error unknown_model(const Config& config, std::string_view name) {
  std::string message = "model \"" + std::string(name) + "\" does not exist";
  std::vector<std::string_view> names;
  for (const ModelConfig& model : config.models) names.push_back(model.name);
  if (names.empty()) {
    message += "; no [[model]] is configured";
  } else {
    message +=
        ", did you mean \"" + std::string(nearest(name, names)) + "\"? GET /v1/models lists all";
  }
  return {.code = ErrorCode::not_found,
          .message = std::move(message),
          .param = "model",
          .upstream_code = "model_not_found"};
}

}  // namespace

bool listens_on_loopback_only(const Config& config) {
  return std::all_of(config.listen.begin(), config.listen.end(), [](const std::string& text) {
    const auto address = parse_listen(text);
    return address && address->is_loopback();
  });
}

namespace {

engine::CallIdForm call_ids_of(const ModelConfig& model, std::string_view dialect) {
  if (model.upstream_call_ids.empty()) return engine::call_ids_of(dialect);
  if (model.upstream_call_ids == "kimi") return engine::CallIdForm::kimi;
  if (model.upstream_call_ids == "mistral") return engine::CallIdForm::mistral;
  return engine::CallIdForm::any;
}

// What the model's requests become on their way to the upstream.
engine::RequestRules rules_of(const ModelConfig& model, const DialectChoice& choice) {
  const std::string_view dialect = choice.dialect == nullptr ? "native" : choice.dialect->name;
  engine::RequestRules rules;
  if (model.system == "drop") rules.system = engine::SystemPrompts::drop;
  if (model.system == "first") rules.system = engine::SystemPrompts::first;
  rules.call_ids = call_ids_of(model, dialect);
  rules.params = model.params.members;
  // A model of which nothing is known is shown the form that most models know; `auto` reads it.
  if (model.tools == "prompt") {
    rules.prompt_dialect = dialect::writes_calls_as_text(dialect) ? dialect : "hermes";
  }
  return rules;
}

// Keys such as `EMPTY` are no secrets: a mask of them would spoil what is logged.
std::vector<std::string> long_enough(std::vector<std::string> secrets) {
  std::erase_if(secrets, [](const auto& secret) { return !is_long_enough_for_a_secret(secret); });
  return secrets;
}

}  // namespace

Result<DialectChoice> choose_dialect(const ModelConfig& model, std::string_view header) {
  const std::string_view name = header.empty() ? std::string_view(model.dialect) : header;
  DialectChoice choice;
  if (name.empty()) {
    choice.is_default = true;
    choice.dialect = dialect::default_for(model.id.empty() ? model.name : model.id);
    if (choice.dialect == nullptr) choice.dialect = dialect::find("auto");
  } else {
    choice.dialect = dialect::find(name);
    if (choice.dialect == nullptr) {
      return fail(ErrorCode::invalid_request, "header x-callgate-dialect: there is no dialect \"" +
                                                  std::string(name) +
                                                  "\", `callgate dialects` lists all");
    }
  }
  if (choice.dialect->name == "native") choice.dialect = nullptr;
  return choice;
}

Snapshot::Snapshot(Config given, Access keys)
    : config(std::move(given)),
      access(std::move(keys)),
      secrets(std::make_shared<const std::vector<std::string>>(secrets_of(config))),
      mask(long_enough(*secrets)) {
  for (const ModelConfig& model : config.models) {
    const DialectChoice dialect = *choose_dialect(model, "");
    const Model known{.config = &model,
                      .dialect = dialect,
                      .policy = *to_policy(model),
                      .rules = rules_of(model, dialect)};
    models[model.name] = known;
    for (const std::string& alias : model.aliases) models[alias] = known;
  }
}

Gateway::Gateway(World& world, net::Loop& loop, std::uint64_t id_seed)
    : world_(world), loop_(loop), mint_(id_seed) {}

Result<void> Gateway::apply(std::shared_ptr<const Snapshot> snapshot) {
  UpstreamTargets targets;
  for (const UpstreamConfig& upstream : snapshot->config.upstreams) {
    if (upstream.is_child()) {
      const auto health = [&] { return observe_child(world_, upstream.name); };
      targets[upstream.name] =
          make_child_target(loop_, upstream, world_.children.find_or_start(upstream, health));
      continue;
    }
    auto target = upstream.is_scripted()
                      ? make_script_target(loop_, upstream, world_.scripted_chats)
                      : make_http_target(loop_, upstream);
    if (!target) return tl::unexpected(target.error());
    if (upstream.wire == "qwen_web") {
      *target = make_qwen_web_target(loop_, upstream, std::move(*target), world_.conversations,
                                     mint_.next());
    }
    targets[upstream.name] = std::move(*target);
  }
  targets_ = std::move(targets);
  snapshot_ = std::move(snapshot);
  return {};
}

Result<const Gateway::Route*> Gateway::find_route(Ask& ask) {
  using Guard = Route::Guard;
  static constexpr std::array<Route, 24> kRoutes{{
      {"POST", "/v1/chat/completions", &Gateway::chat_completions, Guard::model},
      {"GET", "/v1/models", &Gateway::models, Guard::key},
      {"GET", "/v1/models/*", &Gateway::models, Guard::key},
      {"GET", "/v1/requests", &Gateway::log_query, Guard::admin},
      {"GET", "/v1/requests/*", &Gateway::log_query, Guard::admin},
      {"GET", "/v1/usage", &Gateway::log_query, Guard::admin},
      {"GET", "/v1/stats", &Gateway::log_query, Guard::admin},
      {"GET", "/v1/sessions", &Gateway::list_sessions, Guard::admin},
      {"GET", "/v1/sessions/*", &Gateway::show_session, Guard::admin},
      {"DELETE", "/v1/sessions/*", &Gateway::delete_session, Guard::admin},
      {"GET", "/v1/loops", &Gateway::list_loops, Guard::key},
      {"POST", "/v1/loops/*", &Gateway::steer_loop, Guard::key},
      {"GET", "/v1/conversations/*", &Gateway::show_conversation, Guard::key},
      {"DELETE", "/v1/conversations/*", &Gateway::delete_conversation, Guard::key},
      {"GET", "/v1/rooms/*", &Gateway::room, Guard::key},
      {"POST", "/mcp", &Gateway::mcp, Guard::model},
      {"GET", "/mcp", &Gateway::mcp, Guard::key},
      {"DELETE", "/mcp", &Gateway::mcp, Guard::key},
      {"GET", "/livez", &Gateway::livez, Guard::open},
      {"GET", "/readyz", &Gateway::readyz, Guard::open},
      {"GET", "/healthz", &Gateway::readyz, Guard::open},
      {"GET", "/metrics", &Gateway::metrics, Guard::open},
      {"GET", "/", &Gateway::livez, Guard::open},
      {"OPTIONS", "/*", &Gateway::preflight, Guard::open},
  }};
  const net::RequestHead& head = ask.exchange.head();
  std::string allow;
  for (const Route& route : kRoutes) {
    if (!path_matches(route.path, head.path)) continue;
    if (route.method == head.method || (head.method == "HEAD" && route.method == "GET"))
      return &route;
    if (route.method == "OPTIONS") continue;
    allow.append(route.method).append(route.method == "GET" ? ", HEAD, " : ", ");
  }
  if (!allow.empty()) {
    allow += "OPTIONS";
    ask.headers.add("allow", allow);
    return fail(ErrorCode::not_allowed,
                std::string(head.method) + " is not allowed here, use " + allow);
  }
  std::string known;
  for (const Route& route : kRoutes) {
    if (route.guard == Guard::open && route.path.size() < 3) continue;
    known.append(known.empty() ? "" : ", ").append(route.method).append(" ").append(route.path);
  }
  return tl::unexpected(
      Error{.code = ErrorCode::not_found,
            .message = "there is no " + std::string(head.path) + "; known paths: " + known,
            .upstream_code = "unknown_url"});
}

// No Error is made inside a co_await expression below: g++ 12 destroys such temporaries twice.
net::Task<> Gateway::answer(net::Exchange& exchange) {
  Ask ask{.exchange = exchange, .snapshot = snapshot_, .started_ms = loop_.now()};
  const std::string_view given = exchange.head().headers.find("x-request-id").value_or("");
  ask.id = is_acceptable_request_id(given) ? std::string(given)
                                           : mint_.mint_timed("req_", unix_milliseconds());
  ask.headers.add("x-request-id", ask.id);
  add_cors(ask);
  const auto route = find_route(ask);
  if (!route) co_return co_await refuse(ask, route.error());
  const auto admitted = admit(ask, **route);
  if (!admitted) co_return co_await refuse(ask, admitted.error());
  co_await (this->*(*route)->answer)(ask);
}

// Who can start a gateway without keys on this machine may also read its log.
static Result<void> admit_admin(const Ask& ask) {
  const bool allowed =
      ask.key == nullptr ? listens_on_loopback_only(ask.snapshot->config) : ask.key->config.admin;
  if (allowed) return {};
  return fail(ErrorCode::forbidden,
              std::string(ask.exchange.head().path) + " needs a key with admin = true");
}

Result<void> Gateway::admit(Ask& ask, const Route& route) {
  if (route.guard == Route::Guard::open) return {};
  const net::Headers& headers = ask.exchange.head().headers;
  const std::string offered = offered_key(headers);  // browsers cannot set headers of WebSockets
  const auto key = ask.snapshot->access.authenticate(headers.find("authorization").value_or(""),
                                                     headers.find("x-api-key").value_or(offered));
  if (!key) {
    observe_auth_failure(world_);
    return tl::unexpected(key.error());
  }
  ask.key = *key;
  if (route.guard == Route::Guard::admin) return admit_admin(ask);
  if (route.guard != Route::Guard::model) return {};
  return admit_turn(*ask.snapshot, ask.key, ask.headers);
}

Result<void> Gateway::admit_turn(const Snapshot& snapshot, KeyState* key, net::Headers& headers) {
  if (snapshot.config.maintenance || world_.draining.load(std::memory_order_relaxed)) {
    headers.add("retry-after", "5");
    return fail(ErrorCode::unavailable,
                world_.draining ? "the gateway is shutting down" : "the gateway is in maintenance");
  }
  if (snapshot.config.store.when_down == "closed" && world_.requests.is_down()) {
    headers.add("retry-after", "5");
    return fail(ErrorCode::unavailable, "the store is down");
  }
  if (key == nullptr || !key->rate.limited()) return {};
  const RateLimit::Verdict verdict = key->rate.take(monotonic_now());
  if (verdict.low && world_.limits != nullptr) world_.limits->want_more();
  add_rate_headers(headers, verdict);
  if (verdict.allowed) return {};
  observe_rate_limited(world_, key->config.name);
  return tl::unexpected(Error{.code = ErrorCode::rate_limited,
                              .message = "rate limit of " + std::to_string(verdict.limit) +
                                         " requests per minute reached for key \"" +
                                         key->config.name + "\"",
                              .upstream_code = "rate_limit_exceeded"});
}

Result<Snapshot::Model> Gateway::choose_model(const Snapshot& snapshot, const KeyState* key,
                                              std::string_view name) {
  const auto found = snapshot.models.find(name);
  if (found == snapshot.models.end()) {
    return tl::unexpected(unknown_model(snapshot.config, name));
  }
  if (key != nullptr && !key->may_use(name)) {
    return fail(ErrorCode::forbidden,
                "key \"" + key->config.name + "\" may not use model \"" + std::string(name) + "\"",
                "model");
  }
  return found->second;
}

TurnSlots::TurnSlots(World& world, KeyState* key) : slot_(world.streams) {
  if (key == nullptr) return;
  key_slot_.emplace(key->streams);
  if (world.limits != nullptr && key->streams.full()) world.limits->want_more();
}

std::optional<Error> TurnSlots::refusal() const {
  if (slot_ && (!key_slot_ || *key_slot_)) return std::nullopt;
  return Error{.code = ErrorCode::rate_limited,
               .message = slot_ ? "this key has too many requests running"
                                : "the gateway has too many requests running",
               .upstream_code = "too_many_streams",
               .retry_after = "1"};
}

TurnHost Gateway::turn_host() {
  return {.world = world_, .loop = loop_, .mint = mint_, .targets = targets_};
}

net::Task<> Gateway::chat_completions(Ask& ask) {
  const TurnSlots slots(world_, ask.key);
  const std::optional<Error> busy = slots.refusal();
  if (busy) co_return co_await refuse(ask, *busy);
  const auto body = co_await ask.exchange.body(ask.snapshot->config.limits.max_body.count);
  if (!body) co_return co_await refuse(ask, body.error());
  auto work = read_turn(ask, *body);
  if (!work) co_return co_await refuse(ask, work.error());
  ask.exchange.drop_body();
  const StreamGauge gauge(world_);
  if ((*work)->choice.on) co_return co_await run_loop(ask, std::move(*work));
  co_await run_plain(ask, std::move(*work));
}

Result<std::unique_ptr<LoopWork>> Gateway::read_turn(Ask& ask, std::string_view body) {
  auto work = std::make_unique<LoopWork>();
  TurnJob& job = work->job;
  job.protocol = client::find("openai_chat");
  job.protocol_name = job.protocol->name;
  auto request = job.protocol->decode(body);
  if (!request) return tl::unexpected(request.error());
  auto model = choose_model(*ask.snapshot, ask.key, request->model);
  if (!model) return tl::unexpected(model.error());
  const net::RequestHead& head = ask.exchange.head();
  const std::string_view header = head.headers.find("x-callgate-dialect").value_or("");
  Result<DialectChoice> dialect = model->dialect;
  if (!header.empty()) dialect = choose_dialect(*model->config, header);
  if (!dialect) return tl::unexpected(dialect.error());
  auto options = read_options(head.headers, model->policy, head.query);
  if (!options) return tl::unexpected(options.error());
  const KeyConfig* key = ask.key == nullptr ? nullptr : &ask.key->config;
  const auto catalogue = world_.tools == nullptr ? nullptr : world_.tools->catalogue();
  auto loop = choose_loop(*request, head.headers, ask.snapshot->config, *model->config, key,
                          catalogue.get());
  if (!loop) return tl::unexpected(loop.error());
  loop->apply_to(options->policy);
  const bool logged = logs_content(ask.snapshot->config, key, *model->config);
  const auto captured = begin_capture(ask, request->model, body, logged);
  if (!captured) return tl::unexpected(captured.error());
  job.snapshot = ask.snapshot;
  job.key = ask.key;
  job.request_id = ask.id;
  job.session = session_of(head.headers);
  job.peer = ask.exchange.peer();
  job.started_ms = ask.started_ms;
  if (logged) job.received = body;
  job.received_bytes = body.size();
  job.request = std::move(*request);
  job.model = std::move(*model);
  job.dialect = *dialect;
  job.options = *options;
  job.keepalive = wants_keepalive(head.headers);
  job.capture = std::move(ask.capture);
  work->choice = std::move(*loop);
  return work;
}

net::Task<> Gateway::run_plain(Ask& ask, std::unique_ptr<LoopWork> work) {
  ConnectionAudience audience(ask.exchange, std::move(ask.headers));
  net::Task<> turn =
      run_turn(turn_host(), std::move(work->job), ask.exchange.head().headers, audience);
  work.reset();  // what was a loop's
  co_await std::move(turn);
}

net::Task<> Gateway::run_loop(Ask& ask, std::unique_ptr<LoopWork> work) {
  ConnectionAudience audience(ask.exchange, std::move(ask.headers));
  LoopRun run(turn_host(), std::move(*work), ask.exchange.head().headers, audience,
              LoopRun::Wants::bytes);
  work.reset();
  co_await run.run();
}

Result<void> Gateway::begin_capture(Ask& ask, std::string_view model, std::string_view body,
                                    bool logged) {
  const Config& config = ask.snapshot->config;
  const net::RequestHead& head = ask.exchange.head();
  const auto wanted = wants_capture(config, head.headers.find(kCaptureHeader).value_or(""),
                                    ask.key == nullptr ? nullptr : &ask.key->config, model);
  if (!wanted) return tl::unexpected(wanted.error());
  const bool brief = !*wanted && logged && config.capture.recent > 0;
  if (!*wanted && !brief) return {};
  ask.capture = Capture::make(world_.captures, config.capture,
                              {.request_id = ask.id,
                               .time_ms = unix_milliseconds(),
                               .model = std::string(model),
                               .protocol = "openai_chat",
                               .secrets = ask.snapshot->secrets,
                               .brief = brief});
  if (ask.capture == nullptr) return {};
  ask.capture->client_asked(head, brief ? std::string_view{} : body);
  if (brief) return {};
  ask.headers.add(kCaptureHeader, ask.id);
  return {};
}

net::Task<> Gateway::models(Ask& ask) {
  const Config& config = ask.snapshot->config;
  constexpr std::string_view kPrefix = "/v1/models/";
  const std::string_view path = ask.exchange.head().path;
  std::string body;
  if (path.starts_with(kPrefix)) {
    const std::string name = percent_decoded(path.substr(kPrefix.size()));
    const auto model = choose_model(*ask.snapshot, ask.key, name);
    if (!model) co_return co_await refuse(ask, model.error());
    append_model(body, *model->config);
  } else {
    body = "{\"object\":\"list\",\"data\":[";
    for (const ModelConfig& model : config.models) {
      if (body.back() == '}') body += ',';
      append_model(body, model);
    }
    body += "]}";
  }
  co_await respond_json(ask, 200, body);
}

net::Task<> Gateway::livez(Ask& ask) {
  co_await respond_json(ask, 200, "{\"status\":\"ok\",\"service\":\"callgate\"}");
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
  object.string("store", health.healthy ? "ok" : health.problem);
  if (!health.notice.empty()) object.string("notice", health.notice);
  object.integer("store_dropped", static_cast<std::int64_t>(health.dropped));
  object.integer("store_shed", static_cast<std::int64_t>(health.shed));
  object.integer("store_journal_bytes", static_cast<std::int64_t>(health.journal_bytes));
  object.integer("models", static_cast<std::int64_t>(ask.snapshot->config.models.size()));
  object.integer("streams", world_.streams.running());
  object.close();
  // A failing store stops requests only when it is told to; else it is shown.
  co_await respond_json(ask, draining || maintenance || closed ? 503 : 200, body);
}

net::Task<> Gateway::metrics(Ask& ask) {
  ask.headers.add("content-type", "text/plain; version=0.0.4; charset=utf-8");
  co_await ask.exchange.respond(200, ask.headers, render_metrics(world_));
}

net::Task<> Gateway::recent_capture(Ask& ask) {
  std::string_view rest = ask.exchange.head().path.substr(kRequestPath.size());
  rest.remove_suffix(kCapturePath.size());
  const std::string id = percent_decoded(rest);
  const std::optional<std::string> capture = world_.recent_captures.find(id);
  if (!capture) {
    const Error error = no_capture(id);
    co_return co_await refuse(ask, error);
  }
  ask.headers.add("content-type", "application/x-ndjson");
  ask.headers.add("cache-control", "no-store");
  co_await ask.exchange.respond(200, ask.headers, *capture);
}

net::Task<> Gateway::log_query(Ask& ask) {
  const net::RequestHead& head = ask.exchange.head();
  if (head.path.starts_with(kRequestPath) && head.path.ends_with(kCapturePath)) {
    co_return co_await recent_capture(ask);
  }
  const LogQuery query{.path = std::string(head.path),
                       .query = std::string(head.query),
                       .now_ms = unix_milliseconds()};
  Result<std::string> answer = fail(ErrorCode::unavailable, "the store is not asked here");
  if (world_.queries != nullptr) {
    QueryPool::Work work = [&log = world_.requests, query] { return answer_log_query(log, query); };
    answer = co_await world_.queries->run(loop_, std::move(work));
  }
  if (!answer) co_return co_await refuse(ask, answer.error());
  ask.headers.add("cache-control", "no-store");
  co_await respond_json(ask, 200, *answer);
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
  ask.headers.add(
      "access-control-expose-headers",
      "x-request-id, x-callgate-capture, x-callgate-dialect, retry-after, retry-after-ms");
  if (allowed != "*") ask.headers.add("vary", "origin");
}

net::Task<> Gateway::respond_json(Ask& ask, int status, std::string_view body) {
  ask.headers.add("content-type", "application/json");
  co_await ask.exchange.respond(status, ask.headers, body);
}

net::Task<> Gateway::refuse(Ask& ask, const Error& error, int status) {
  add_refusal_headers(ask.headers, error);
  if (status == 0) status = client::status_of(error);
  observe_refusal(world_, ask, status, error);
  const Milliseconds waited(loop_.now() - ask.started_ms);
  trace_refusal(world_, mint_, ask, status, error, waited);
  co_await respond_json(ask, status, client::find("openai_chat")->error_body(error));
}

}  // namespace callgate::server
