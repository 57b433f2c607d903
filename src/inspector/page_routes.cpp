// GET / and GET /inspector/*: the page and its files.
#include "inspector/page_routes.h"

#include "inspector/page_assets.h"

namespace callgate::server {
namespace {

constexpr std::string_view kIndex = "/";
// The page loads from its own gateway only, and nothing in it is script but its one file. It never makes HTML of text.
constexpr std::string_view kContentPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src "
    "'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for "
    "'script'; "
    "trusted-types 'none'";

void add_page_headers(net::Headers& headers, const PageAsset& asset) {
  headers.add("content-type", asset.type);
  headers.add("content-security-policy", kContentPolicy);
  headers.add("x-content-type-options", "nosniff");
  headers.add("x-frame-options", "DENY");
  headers.add("referrer-policy", "no-referrer");
  headers.add("cross-origin-opener-policy", "same-origin");
  headers.add("cross-origin-resource-policy", "same-origin");
  headers.add("cache-control", "no-cache");
  headers.add("vary", "accept, accept-encoding");
}

net::Task<> send_asset(Ask& ask, const PageAsset& asset) {
  const net::Headers& asked = ask.exchange.head().headers;
  const bool gzipped = asset.gzipped && takes(asked.find("accept-encoding").value_or(""), "gzip");
  const std::string tag = entity_tag(asset, gzipped);
  add_page_headers(ask.headers, asset);
  ask.headers.add("etag", tag);
  const std::string_view known = asked.find("if-none-match").value_or("");
  if (known.find(tag) != std::string_view::npos) {
    co_await ask.exchange.respond(304, ask.headers, "");
    co_return;
  }
  if (gzipped) ask.headers.add("content-encoding", "gzip");
  const std::string plain = gzipped ? std::string() : plain_bytes(asset);
  co_await ask.exchange.respond(200, ask.headers, gzipped ? asset.bytes : std::string_view(plain));
}

net::Task<> show_index(Desk& desk, Ask& ask) {
  const std::string_view accept = ask.exchange.head().headers.find("accept").value_or("");
  if (ask.snapshot->config.inspector && takes(accept, "text/html")) {
    co_return co_await send_asset(ask, *find_page_asset(kIndex));
  }
  (void)desk;
  co_await respond_json(ask, 200, "{\"status\":\"ok\",\"service\":\"callgate\"}");
}

net::Task<> show_asset(Desk& desk, Ask& ask) {
  const PageAsset* asset = find_page_asset(ask.exchange.head().path);
  if (asset == nullptr || !ask.snapshot->config.inspector) {
    const Error missing{.code = ErrorCode::not_found, .message = "the page has no such file"};
    co_return co_await desk.refuse(ask, missing);
  }
  co_await send_asset(ask, *asset);
}

}  // namespace

void add_page_routes(Routes& routes, Desk& desk) {
  routes.add({"GET", kIndex, Guard::open, [&desk](Ask& ask) { return show_index(desk, ask); }});
  routes.add(
      {"GET", "/inspector/*", Guard::open, [&desk](Ask& ask) { return show_asset(desk, ask); }});
}

}  // namespace callgate::server
