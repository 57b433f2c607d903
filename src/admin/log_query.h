// Questions to the request log, as paths and parameters of the admin API. docs/log.md lists them.
//
//   GET /v1/requests?model=m&since=2h&error=true
//   {"object":"list","data":[{"id":"req_1","object":"request","received_at":"2026-11-16T03:00:00.000Z",...}],
//    "has_more":false,"next_cursor":null}
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "callgate/result.h"
#include "store/request_log.h"

namespace callgate::server {

inline constexpr std::string_view kRequestPath = "/v1/requests/";
// After the path of a request: its capture, which the gateway has and the log does not.
inline constexpr std::string_view kCapturePath = "/capture";

struct LogQuery {
  std::string path;         // as sent
  std::string query;        // after the question mark
  std::int64_t now_ms = 0;  // Unix
  // The key that asks: among requests with the same id its own come first. Empty: the caller has no key of the gateway.
  std::optional<std::string> key = {};
  // It may see its own usage alone. REQUIRES: the path is /v1/usage.
  bool own_only = false;
};

// The JSON that answers the question. May wait for the disk. invalid_request names the parameter at fault.
Result<std::string> answer_log_query(store::RequestLog& log, const LogQuery& query);

// POST /v1/requests/ID: marks it as resolved, or not any more. The row as it is then.
Result<std::string> resolve_request(store::RequestLog& log, const LogQuery& query,
                                    std::string_view body);

// The parameters of GET /v1/requests.
Result<store::RequestFilter> read_request_filter(std::string_view query, std::int64_t now_ms);

}  // namespace callgate::server
