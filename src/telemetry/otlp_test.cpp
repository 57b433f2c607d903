#include "telemetry/otlp.h"

#include <gtest/gtest.h>

#include "callgate/version.h"

namespace callgate::telemetry::otlp_test {
namespace {

Span sample() {
  Span span{.trace = {0x4bf92f3577b34da6, 0xa3ce929d0e0e4736},
            .id = 0xf067aa0ba902b7,
            .kind = SpanKind::server,
            .name = "chat \"m\"",
            .started_at = 1'700'000'000'000'000'001,
            .ended_at = 1'700'000'000'000'000'002};
  return span;
}

std::string spans_of(const std::vector<Span>& spans) {
  std::string out;
  append_traces(out, "callgate", spans);
  const std::size_t begin = out.find("\"spans\":[") + 9;
  return out.substr(begin, out.size() - begin - 7);
}

TEST(Otlp, writes_a_batch_as_the_specification_shows_it) {
  std::string out;
  append_traces(out, "my gate", std::vector<Span>{sample()});
  std::string want =
      R"({"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":)"
      R"({"stringValue":"my gate"}},{"key":"service.version","value":{"stringValue":"VERSION"}}]},)"
      R"("scopeSpans":[{"scope":{"name":"callgate","version":"VERSION"},)"
      R"("spans":[{"traceId":"4bf92f3577b34da6a3ce929d0e0e4736","spanId":"00f067aa0ba902b7",)"
      R"("name":"chat \"m\"","kind":2,"startTimeUnixNano":"1700000000000000001",)"
      R"("endTimeUnixNano":"1700000000000000002","attributes":[]}]}]}]})";
  constexpr std::string_view kPlace = "VERSION";
  for (std::size_t at; (at = want.find(kPlace)) != std::string::npos;) {
    want.replace(at, kPlace.size(), kVersion);
  }
  EXPECT_EQ(out, want);
}

TEST(Otlp, writes_every_kind_of_attribute) {
  Span span = sample();
  span.parent = 1;
  span.state = "a=1";
  span.failed = true;
  span.set("text", "a\n\xff");
  span.set("number", std::int64_t{-5});
  span.set("real", 0.25);
  span.set("flag", true);
  span.set("list", std::vector<std::string>{"stop", "length"});
  const std::string text = spans_of({span, sample()});
  EXPECT_NE(text.find(R"("parentSpanId":"0000000000000001","traceState":"a=1")"),
            std::string::npos);
  EXPECT_NE(text.find(R"("attributes":[{"key":"text","value":{"stringValue":"a\n)"
                      "\xEF\xBF\xBD"
                      R"("}},{"key":"number","value":{"intValue":"-5"}},)"
                      R"({"key":"real","value":{"doubleValue":0.25}},)"
                      R"({"key":"flag","value":{"boolValue":true}},)"
                      R"({"key":"list","value":{"arrayValue":{"values":[{"stringValue":"stop"},)"
                      R"({"stringValue":"length"}]}}}],"status":{"code":2}},{)"),
            std::string::npos)
      << text;
}

TEST(Otlp, cuts_long_texts_between_characters) {
  EXPECT_EQ(attribute_text(std::string(300, 'x')).size(), kLongestAttribute);
  std::string accented(255, 'x');
  accented.append("\xC3\xA9");
  EXPECT_EQ(attribute_text(accented).size(), 255u);
  EXPECT_EQ(attribute_text("short"), "short");
}

TEST(Otlp, reads_how_many_spans_were_refused) {
  EXPECT_EQ(rejected_spans(R"({"partialSuccess":{"rejectedSpans":"3","errorMessage":"old"}})"), 3u);
  EXPECT_EQ(rejected_spans(R"({"partialSuccess":{"rejectedSpans":2}})"), 2u);
  for (const char* none : {"", "{}", "ok", R"({"partialSuccess":null})", R"({"partialSuccess":{}})",
                           R"({"partialSuccess":{"rejectedSpans":"x"}})"}) {
    EXPECT_EQ(rejected_spans(none), 0u) << none;
  }
}

}  // namespace
}  // namespace callgate::telemetry::otlp_test
