// The headers of answers that mean something to a client. A page in a browser may read them all; docs/http.md explains each, and
// tools/reference.py compares the two.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace callgate::server {

inline constexpr std::array<std::string_view, 23> kAnswerHeaders = {
    "x-request-id",
    "request-id",
    "x-callgate-attempts",
    "x-callgate-dialect",
    "x-callgate-dropped",
    "x-callgate-warning",
    "x-callgate-usage",
    "x-callgate-tool-call-count",
    "x-callgate-tool-call-truncated",
    "x-callgate-stop-after-tools-mode",
    "x-callgate-capture",
    "x-callgate-loop",
    "x-callgate-loop-end",
    "x-callgate-session",
    "x-callgate-session-state",
    "x-ratelimit-limit-requests",
    "x-ratelimit-remaining-requests",
    "x-ratelimit-reset-requests",
    "x-ratelimit-limit-tokens",
    "x-ratelimit-remaining-tokens",
    "x-ratelimit-reset-tokens",
    "retry-after",
    "retry-after-ms",
};

// The value of access-control-expose-headers.
inline const std::string& exposed_headers() {
  static const std::string kList = [] {
    std::string list;
    for (const std::string_view name : kAnswerHeaders) {
      if (!list.empty()) list += ", ";
      list += name;
    }
    return list;
  }();
  return kList;
}

}  // namespace callgate::server
