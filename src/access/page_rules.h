// What a page in a browser may do here. Three ways lead from a foreign page to a gateway on this machine:
//   - it sends a request and cannot read the answer, but the tools have run: `origin` shows it
//   - its own name now resolves to this machine, so that the browser takes the gateway for the page's own server: `host`
//     shows it
//   - it sends JSON as a form, which needs no permission: `content-type` shows it
// docs/security.md says what follows for those who run a gateway.
#pragma once

#include <optional>
#include <string_view>

#include "callgate/error.h"
#include "config/config.h"
#include "net/http.h"

namespace callgate::server {

// How the request came.
struct Arrival {
  bool secure = false;  // over TLS
  bool local = false;   // through a socket in the file system, which no browser can reach
};

// The page's origin is scheme, name and port of what it asks: `http://localhost:8080` and `localhost:8080`.
bool is_same_origin(std::string_view origin, std::string_view host, bool secure);

// A value of the Host header that a gateway without keys answers to: loopback, what it listens on, or one of `hosts`.
bool is_own_host(std::string_view host, const Config& config);

// Why the request is refused, if it is. Not for routes that anybody may see.
std::optional<Error> check_page(const net::RequestHead& head, Arrival arrival,
                                const Config& config);

// `application/json`, `application/problem+json; charset=utf-8`
bool is_json_type(std::string_view content_type);

// Why the body is not read, if it is not: it is said not to be JSON. What `curl -d` says of every body passes, but not from a
// browser.
std::optional<Error> check_content_type(const net::RequestHead& head);

}  // namespace callgate::server
