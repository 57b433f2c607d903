// GET /v1/requests, /v1/requests/ID (POST marks it as resolved), /v1/requests/ID/capture, /v1/usage and /v1/stats.
#include "admin/admin_routes.h"
#include "admin/answer_beside.h"
#include "admin/log_query.h"
#include "admin/query_pool.h"
#include "base/url_query.h"
#include "front/admission.h"
#include "net/unix_time.h"
#include "turn/observe.h"

namespace callgate::server {
namespace {

constexpr std::string_view kNoLog = "this gateway has no request log (store.url = \"none\")";

Error no_capture(std::string_view id) {
  return {.code = ErrorCode::not_found,
          .message = "there is no capture of \"" + std::string(id) +
                     "\" in memory: only the latest turns that failed, lost data or look like a "
                     "missed call stay there, see capture.recent"};
}

net::Task<> show_capture(Desk& desk, Ask& ask) {
  std::string_view rest = ask.exchange.head().path.substr(kRequestPath.size());
  rest.remove_suffix(kCapturePath.size());
  const std::string id = percent_decoded(rest);
  const std::optional<std::string> capture =
      desk.world.recent_captures.find(id, ask.key == nullptr ? "" : ask.key->config.name);
  if (!capture) {
    const Error error = no_capture(id);
    co_return co_await desk.refuse(ask, error);
  }
  ask.headers.add("content-type", "application/x-ndjson");
  ask.headers.add("cache-control", "no-store");
  co_await ask.exchange.respond(200, ask.headers, *capture);
}

// Every key may see what it used itself. Without a key there is nothing that would be the asker's own.
bool is_admin(const Ask& ask) { return ask.key == nullptr || ask.key->config.admin; }

net::Task<> answer_query(Desk& desk, Ask& ask) {
  const net::RequestHead& head = ask.exchange.head();
  if (head.path.starts_with(kRequestPath) && head.path.ends_with(kCapturePath)) {
    co_return co_await show_capture(desk, ask);
  }
  LogQuery query{.path = std::string(head.path),
                 .query = std::string(head.query),
                 .now_ms = net::unix_ms(),
                 .key = ask.key == nullptr ? "" : ask.key->config.name};
  query.own_only = !is_admin(ask);
  QueryPool::Work work = [&log = desk.world.requests, query] {
    return answer_log_query(log, query);
  };
  co_await answer_beside(desk, ask, std::move(work), kNoLog);
}

net::Task<> answer_resolve(Desk& desk, Ask& ask) {
  const auto body = co_await read_body(desk.world, ask);
  if (!body) co_return co_await desk.refuse(ask, body.error());
  const net::RequestHead& head = ask.exchange.head();
  const LogQuery query{.path = std::string(head.path),
                       .query = std::string(head.query),
                       .now_ms = net::unix_ms(),
                       .key = ask.key == nullptr ? "" : ask.key->config.name};
  Result<std::string> answer = fail(ErrorCode::unavailable, std::string(kNoLog));
  if (desk.world.queries != nullptr) {
    QueryPool::Work work = [&log = desk.world.requests, query, text = std::string(*body)] {
      return resolve_request(log, query, text);
    };
    answer = co_await desk.world.queries->run(desk.loop, std::move(work));
  }
  if (!answer) co_return co_await desk.refuse(ask, answer.error());
  co_await respond_json(ask, 200, *answer);
}

net::Task<> answer_usage_query(Desk& desk, Ask& ask) {
  if (ask.key == nullptr && !listens_on_loopback_only(ask.snapshot->config)) {
    const Error error{.code = ErrorCode::forbidden,
                      .message = "/v1/usage needs a key, which an open gateway does not have"};
    co_return co_await desk.refuse(ask, error);
  }
  co_await answer_query(desk, ask);
}

}  // namespace

void add_log_routes(Routes& routes, Desk& desk) {
  for (const std::string_view path : {"/v1/requests", "/v1/requests/*", "/v1/stats"}) {
    routes.add({"GET", path, Guard::admin, [&desk](Ask& ask) { return answer_query(desk, ask); }});
  }
  routes.add({"POST", "/v1/requests/*", Guard::admin,
              [&desk](Ask& ask) { return answer_resolve(desk, ask); }});
  routes.add({"GET", "/v1/usage", Guard::key,
              [&desk](Ask& ask) { return answer_usage_query(desk, ask); }});
}

}  // namespace callgate::server
