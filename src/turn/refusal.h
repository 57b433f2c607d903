// What the head of an error says beside its status.
#pragma once

#include <utility>

#include "base/quoted.h"
#include "callgate/error.h"
#include "net/http.h"

namespace callgate::server {

// What a client is answered, whatever it sent: messages may quote names and values of megabytes.
inline Error bounded(Error error) {
  constexpr std::size_t kLongestMessage = 4096;
  constexpr std::size_t kLongestParam = 256;
  if (error.message.size() > kLongestMessage) {
    error.message = shortened(error.message, kLongestMessage);
  }
  if (error.param.size() > kLongestParam) error.param = shortened(error.param, kLongestParam);
  return error;
}

inline void add_refusal_headers(net::Headers& headers, const Error& error) {
  if (!error.retry_after.empty()) headers.add("retry-after", error.retry_after);
  // Neither a quota nor a key comes back by waiting; some clients wait for minutes unless they are told.
  const bool final =
      error.upstream_code == "insufficient_quota" || error.code == ErrorCode::unauthenticated;
  if (final) headers.add("x-should-retry", "false");
}

}  // namespace callgate::server
