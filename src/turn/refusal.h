// What the head of an error says beside its status.
#pragma once

#include "callgate/error.h"
#include "net/http.h"

namespace callgate::server {

inline void add_refusal_headers(net::Headers& headers, const Error& error) {
  if (!error.retry_after.empty()) headers.add("retry-after", error.retry_after);
  // Neither a quota nor a key comes back by waiting; some clients wait for minutes unless they are told.
  const bool final =
      error.upstream_code == "insufficient_quota" || error.code == ErrorCode::unauthenticated;
  if (final) headers.add("x-should-retry", "false");
}

}  // namespace callgate::server
