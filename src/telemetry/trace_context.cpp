#include "telemetry/trace_context.h"

#include <algorithm>
#include <set>

#include "base/text.h"

namespace callgate::telemetry {
namespace {

constexpr std::size_t kParentLength = 55;  // 2 + 1 + 32 + 1 + 16 + 1 + 2
constexpr std::size_t kLongestState = 512;
constexpr std::size_t kMostMembers = 32;
constexpr std::size_t kLongestName = 256;

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }

// Lower-case digits only; at most sixteen of them.
std::optional<std::uint64_t> parse_hex(std::string_view text) {
  std::uint64_t value = 0;
  for (const char c : text) {
    if (!is_digit(c) && !(c >= 'a' && c <= 'f')) return std::nullopt;
    value = value << 4 | static_cast<std::uint64_t>(is_digit(c) ? c - '0' : c - 'a' + 10);
  }
  return value;
}

void append_hex(std::string& out, std::uint64_t value) {
  for (int shift = 60; shift >= 0; shift -= 4) {
    out.push_back("0123456789abcdef"[value >> shift & 0xf]);
  }
}

// `rojo`, or `tenant@system`.
bool is_state_key(std::string_view key) {
  if (key.empty() || key.size() > kLongestName) return false;
  if (!is_lower(key.front()) && !is_digit(key.front())) return false;
  if (std::count(key.begin(), key.end(), '@') > 1) return false;
  return std::all_of(key.begin(), key.end(), [](char c) {
    return is_lower(c) || is_digit(c) || c == '_' || c == '-' || c == '*' || c == '/' || c == '@';
  });
}

bool is_state_value(std::string_view value) {
  return value.size() <= kLongestName && std::all_of(value.begin(), value.end(), [](char c) {
           return c >= 0x20 && c <= 0x7e && c != ',' && c != '=';
         });
}

bool is_state(std::string_view text) {
  if (text.size() > kLongestState) return false;
  std::set<std::string_view> keys;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view member = trimmed_value(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
    if (member.empty()) continue;
    const std::size_t equals = member.find('=');
    if (equals == std::string_view::npos || !is_state_key(member.substr(0, equals)) ||
        !is_state_value(member.substr(equals + 1)) ||
        !keys.insert(member.substr(0, equals)).second || keys.size() > kMostMembers) {
      return false;
    }
  }
  return !keys.empty();
}

}  // namespace

std::optional<TraceContext> parse_trace_context(std::string_view traceparent,
                                                std::string_view tracestate) {
  if (traceparent.size() < kParentLength) return std::nullopt;
  if (traceparent[2] != '-' || traceparent[35] != '-' || traceparent[52] != '-') {
    return std::nullopt;
  }
  const auto version = parse_hex(traceparent.substr(0, 2));
  // A later version may say more, behind another dash.
  const bool longer = traceparent.size() > kParentLength;
  if (!version || *version == 0xff || (longer && *version == 0) ||
      (longer && traceparent[kParentLength] != '-')) {
    return std::nullopt;
  }
  const auto high = parse_hex(traceparent.substr(3, 16));
  const auto low = parse_hex(traceparent.substr(19, 16));
  const auto span = parse_hex(traceparent.substr(36, 16));
  const auto flags = parse_hex(traceparent.substr(53, 2));
  if (!high || !low || !span || !flags) return std::nullopt;
  TraceContext context{.trace = {*high, *low}, .span = *span, .sampled = (*flags & 1) != 0};
  if (!context.trace.is_valid() || context.span == 0) return std::nullopt;
  if (is_state(tracestate)) context.state = tracestate;
  return context;
}

std::optional<TraceContext> trace_context_of(const net::Headers& headers) {
  const auto parent = headers.find("traceparent");
  if (!parent || headers.count("traceparent") != 1) return std::nullopt;
  std::string state;
  for (const net::Header header : headers) {
    if (!net::equals_ignoring_case(header.name, "tracestate")) continue;
    state.append(state.empty() ? "" : ",").append(header.value);
  }
  return parse_trace_context(*parent, state);
}

std::string to_traceparent(const TraceContext& context) {
  std::string text = "00-";
  text.reserve(kParentLength);
  append_hex(text, context.trace.high);
  append_hex(text, context.trace.low);
  text += '-';
  append_hex(text, context.span);
  text += context.sampled ? "-01" : "-00";
  return text;
}

std::string to_hex(const TraceId& trace) {
  std::string text;
  text.reserve(32);
  append_hex(text, trace.high);
  append_hex(text, trace.low);
  return text;
}

std::string to_hex(SpanId span) {
  std::string text;
  append_hex(text, span);
  return text;
}

}  // namespace callgate::telemetry
