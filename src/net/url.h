// Where to listen and whom to call, from text.
//   127.0.0.1:8080   [::1]:8080   localhost:8080   unix:/run/callgate.sock
//   https://host:8443/v1
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "callgate/result.h"

namespace callgate::net {

struct Endpoint {
  std::string host;        // address or name; empty for a Unix socket
  std::uint16_t port = 0;  // 0 lets the system choose
  std::string unix_path;   // not empty: a Unix socket
};

Result<Endpoint> parse_endpoint(std::string_view text);
std::string to_text(const Endpoint& endpoint);

// The server part of an upstream's URL.
struct Target {
  bool tls = false;
  std::string host;  // without brackets
  std::uint16_t port = 80;
  std::string path_prefix;  // `/v1`, or empty; never ends with a slash
  std::string unix_path;    // not empty: `unix:/path` instead of host and port
};

// http, https and unix URLs. Refuses user names, queries and fragments.
Result<Target> parse_url(std::string_view text);
// `host:port`, as error messages and pools name it.
std::string to_text(const Target& target);

}  // namespace callgate::net
