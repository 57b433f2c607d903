// W3C Trace Context: who called, in which trace, and whether anybody records it.
//
//   traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
//   tracestate: congo=t61rcWkgMzE,rojo=00f067aa0ba902b7
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "net/http.h"

namespace callgate::telemetry {

struct TraceId {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  bool is_valid() const { return (high | low) != 0; }
  bool operator==(const TraceId&) const = default;
};

using SpanId = std::uint64_t;  // 0: none

struct TraceContext {
  TraceId trace;
  SpanId span = 0;  // the caller's
  bool sampled = false;
  std::string state;  // tracestate as received; empty if it was missing or invalid
};

// Nothing unless `traceparent` is right to the letter. A tracestate that is wrong is dropped alone.
std::optional<TraceContext> parse_trace_context(std::string_view traceparent,
                                                std::string_view tracestate);
// From a request's headers: two traceparents count as none, tracestates are joined.
std::optional<TraceContext> trace_context_of(const net::Headers& headers);

std::string to_traceparent(const TraceContext& context);

// Lower-case digits: 32 of a trace, 16 of a span.
std::string to_hex(const TraceId& trace);
std::string to_hex(SpanId span);

}  // namespace callgate::telemetry
