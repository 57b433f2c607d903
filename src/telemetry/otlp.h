// OTLP's JSON form: https://opentelemetry.io/docs/specs/otlp/. Ids are hexadecimal, 64-bit numbers are strings.
//
//   {"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"callgate"}}]},
//    "scopeSpans":[{"scope":{"name":"callgate"},"spans":[{"traceId":"4bf9...","spanId":"00f0...","name":"chat m",
//    "kind":2,"startTimeUnixNano":"1700000000000000000","endTimeUnixNano":"1700000001000000000"}]}]}]}
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "telemetry/span.h"

namespace callgate::telemetry {

// The body of `POST {endpoint}/v1/traces`.
void append_traces(std::string& out, std::string_view service, std::span<const Span> spans);

// How many spans the receiver refused, from the body of a good answer:
//   {"partialSuccess":{"rejectedSpans":"3","errorMessage":"too old"}}
std::uint64_t rejected_spans(std::string_view body);

}  // namespace callgate::telemetry
