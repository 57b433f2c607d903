// What every answer that is an event stream shares.
#pragma once

#include <string_view>

#include "net/http.h"

namespace callgate::server {

inline constexpr std::string_view kKeepAlive = ": keep-alive\n\n";

inline void add_event_stream_headers(net::Headers& headers) {
  headers.add("content-type", "text/event-stream; charset=utf-8");
  headers.add("cache-control", "no-cache");
  headers.add("x-accel-buffering", "no");
}

// Whether a silent stream may have comments.
inline bool wants_keepalive(const net::Headers& asked) {
  return asked.find("x-no-keepalive").value_or("") != "1";
}

}  // namespace callgate::server
