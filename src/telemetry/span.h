// A span: what happened between two moments of a trace. Holds no content of requests and answers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "telemetry/trace_context.h"

namespace callgate::telemetry {

// The numbers are OTLP's.
enum class SpanKind : std::uint8_t { internal = 1, server = 2, client = 3 };

using AttributeValue =
    std::variant<std::string, std::int64_t, double, bool, std::vector<std::string>>;

struct Attribute {
  std::string_view name;  // a literal
  AttributeValue value;
};

// Longer texts are cut: names come from callers and models.
inline constexpr std::size_t kLongestAttribute = 256;
std::string attribute_text(std::string_view text);

struct Span {
  TraceId trace;
  SpanId id = 0;
  SpanId parent = 0;  // 0: the first of its trace
  std::string state;  // tracestate
  SpanKind kind = SpanKind::internal;
  std::string name;
  std::int64_t started_at = 0;  // Unix nanoseconds
  std::int64_t ended_at = 0;
  bool failed = false;
  std::vector<Attribute> attributes;

  void set(std::string_view attribute, std::string_view text) {
    attributes.push_back({attribute, attribute_text(text)});
  }
  void set(std::string_view attribute, const char* text) { set(attribute, std::string_view(text)); }
  void set(std::string_view attribute, std::int64_t number) {
    attributes.push_back({attribute, number});
  }
  void set(std::string_view attribute, double number) { attributes.push_back({attribute, number}); }
  void set(std::string_view attribute, bool flag) { attributes.push_back({attribute, flag}); }
  void set(std::string_view attribute, std::vector<std::string> texts) {
    attributes.push_back({attribute, std::move(texts)});
  }
};

}  // namespace callgate::telemetry
