// GET /v1/upstreams.
#include <cmath>
#include <string>
#include <vector>

#include "admin/admin_routes.h"
#include "base/masked_url.h"
#include "json/writer.h"

namespace callgate::server {
namespace {

void print_upstream(std::string& out, const UpstreamConfig& config, const UpstreamStatus& status) {
  json::ObjectWriter row(out);
  row.string("name", status.name);
  row.string("object", "upstream");
  row.string("wire", config.wire);
  if (!config.url.empty()) row.string("url", masked_url(config.url));
  row.string("state", status.state);
  if (!status.trouble.empty()) {
    row.string("trouble", status.trouble);
    row.integer("ejected_for_ms", static_cast<std::int64_t>(status.for_ms));
    row.integer("next_try_ms", static_cast<std::int64_t>(status.next_try_ms));
  }
  if (!status.reason.empty()) row.string("reason", status.reason);
  if (status.limited_ms > 0) {
    row.integer("limited_for_ms", static_cast<std::int64_t>(status.limited_ms));
  }
  row.integer("failures_in_a_row", status.failures_in_a_row);
  row.integer("in_flight", status.in_flight);
  row.integer("queued", status.queued);
  row.integer("requests", static_cast<std::int64_t>(status.requests));
  row.integer("failures", static_cast<std::int64_t>(status.failures));
  if (status.first_token_ms) row.integer("first_token_ms", std::llround(*status.first_token_ms));
  row.close();
}

net::Task<> list_upstreams(Desk& desk, Ask& ask) {
  std::string rows;
  for (const UpstreamStatus& status : desk.world.pools.status(desk.loop.now())) {
    const UpstreamConfig* config = ask.snapshot->config.find_upstream(status.name);
    if (config == nullptr) continue;
    rows += rows.empty() ? "" : ",";
    print_upstream(rows, *config, status);
  }
  ask.headers.add("cache-control", "no-store");
  const std::string body = R"({"object":"list","data":[)" + rows + "]}";
  co_await respond_json(ask, 200, body);
}

}  // namespace

void add_upstream_routes(Routes& routes, Desk& desk) {
  routes.add({"GET", "/v1/upstreams", Guard::admin,
              [&desk](Ask& ask) { return list_upstreams(desk, ask); }});
}

}  // namespace callgate::server
