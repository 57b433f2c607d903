#include "telemetry/otlp.h"

#include <array>
#include <charconv>
#include <cmath>

#include "base/utf8.h"
#include "callgate/event.h"
#include "callgate/version.h"
#include "json/reader.h"
#include "json/writer.h"

namespace callgate::telemetry {
namespace {

void append_quoted(std::string& out, std::int64_t number) {
  out += '"';
  json::append_integer(out, number);
  out += '"';
}

void append_finite(std::string& out, double number) {
  if (!std::isfinite(number)) number = 0;
  std::array<char, 32> digits;
  out.append(digits.data(),
             std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr);
}

void append_value(std::string& out, const AttributeValue& value) {
  json::ObjectWriter object(out);
  std::visit(Overloaded{
                 [&](const std::string& text) { object.string("stringValue", text); },
                 [&](std::int64_t number) { append_quoted(object.key("intValue"), number); },
                 [&](double number) { append_finite(object.key("doubleValue"), number); },
                 [&](bool flag) { object.boolean("boolValue", flag); },
                 [&](const std::vector<std::string>& texts) {
                   object.key("arrayValue") += "{\"values\":[";
                   for (std::size_t i = 0; i < texts.size(); ++i) {
                     if (i > 0) out += ',';
                     append_value(out, texts[i]);
                   }
                   out += "]}";
                 },
             },
             value);
  object.close();
}

void append_attributes(std::string& out, std::span<const Attribute> attributes) {
  out += '[';
  for (std::size_t i = 0; i < attributes.size(); ++i) {
    if (i > 0) out += ',';
    json::ObjectWriter object(out);
    object.string("key", attributes[i].name);
    append_value(object.key("value"), attributes[i].value);
    object.close();
  }
  out += ']';
}

void append_span(std::string& out, const Span& span) {
  constexpr int kError = 2;
  json::ObjectWriter object(out);
  object.string("traceId", to_hex(span.trace));
  object.string("spanId", to_hex(span.id));
  if (span.parent != 0) object.string("parentSpanId", to_hex(span.parent));
  if (!span.state.empty()) object.string("traceState", span.state);
  object.string("name", span.name);
  object.integer("kind", static_cast<std::int64_t>(span.kind));
  append_quoted(object.key("startTimeUnixNano"), span.started_at);
  append_quoted(object.key("endTimeUnixNano"), span.ended_at);
  append_attributes(object.key("attributes"), span.attributes);
  if (span.failed) {
    json::ObjectWriter status(object.key("status"));
    status.integer("code", kError);
    status.close();
  }
  object.close();
}

}  // namespace

std::string attribute_text(std::string_view text) {
  if (text.size() > kLongestAttribute) {
    text = text.substr(0, kLongestAttribute);
    text.remove_suffix(utf8::incomplete_tail(text));
  }
  return std::string(text);
}

void append_traces(std::string& out, std::string_view service, std::span<const Span> spans) {
  const std::array<Attribute, 2> resource = {
      {{"service.name", std::string(service)}, {"service.version", std::string(kVersion)}}};
  out += "{\"resourceSpans\":[{\"resource\":{\"attributes\":";
  append_attributes(out, resource);
  out += "},\"scopeSpans\":[{\"scope\":{\"name\":\"callgate\",\"version\":";
  json::append_string(out, kVersion);
  out += "},\"spans\":[";
  for (std::size_t i = 0; i < spans.size(); ++i) {
    if (i > 0) out += ',';
    append_span(out, spans[i]);
  }
  out += "]}]}]}";
}

std::uint64_t rejected_spans(std::string_view body) {
  std::uint64_t rejected = 0;
  json::Reader in(body);
  for (std::string_view key; in.next_member(key);) {
    if (key != "partialSuccess" || in.peek() != json::Kind::object) {
      in.skip();
      continue;
    }
    for (std::string_view inner; in.next_member(inner);) {
      const json::Kind kind = in.peek();
      if (inner == "rejectedSpans" && (kind == json::Kind::string || kind == json::Kind::number)) {
        const std::string_view digits = kind == json::Kind::string ? in.string() : in.number();
        std::from_chars(digits.data(), digits.data() + digits.size(), rejected);
      } else {
        in.skip();
      }
    }
  }
  return in.finish() ? rejected : 0;
}

}  // namespace callgate::telemetry
