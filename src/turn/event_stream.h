// What every answer that is a stream shares.
#pragma once

#include <string_view>

#include "net/http.h"

namespace callgate::server {

inline void add_event_stream_headers(net::Headers& headers, std::string_view type) {
  headers.add("content-type", type);
  headers.add("cache-control", "no-cache");
  headers.add("x-accel-buffering", "no");
}

// Whether a silent stream may have comments.
inline bool wants_keepalive(const net::Headers& asked) {
  return asked.find("x-no-keepalive").value_or("") != "1";
}

}  // namespace callgate::server
