// The spans of a turn as a collector gets them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "net/net_testing.h"
#include "telemetry/span_exporter.h"
#include "turn/turn_trace.h"

namespace callgate::server::trace_spans_test {
namespace {

using testing::HasSubstr;
using testing::Not;

class TraceSpansTest : public testing::Test {
 protected:
  // What the collector got when all is sent.
  template <class Play>
  std::string collect(Play play) {
    std::string got;
    {
      net::ServerThread collector([&](net::Exchange& exchange) -> net::Task<> {
        const auto body = co_await exchange.body();
        if (body) got += *body;
        (void)co_await exchange.respond(200, "application/json", "{}");
      });
      telemetry::SpanExporterOptions options;
      options.endpoint = "http://127.0.0.1:" + std::to_string(collector.port());
      options.interval = net::Millis(1);
      auto exporter = std::move(*telemetry::SpanExporter::make(options, quiet_));
      world_.spans = exporter.get();
      {
        TurnTrace trace(world_, mint_, asked_, subject_);
        play(trace);
      }
      world_.spans = nullptr;
      exporter.reset();  // sends what waits
    }
    return got;
  }

  const TurnSubject subject_{.request = "r1",
                             .key = "dev",
                             .model = "m",
                             .model_id = "real/m",
                             .dialect = "hermes",
                             .stream = true};
  const net::Headers asked_{
      {"traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}};
  IdMint mint_{7};
  telemetry::Logger quiet_{{.level = telemetry::LogLevel::off}};
  telemetry::Metrics metrics_;
  store::NullRequestLog requests_;
  World world_{quiet_, metrics_, requests_, 0};
};

TEST_F(TraceSpansTest, have_an_end_also_where_the_turn_was_destroyed) {
  UpstreamConfig upstream;
  upstream.name = "main";
  TurnTrace::HeaderList headers;
  const std::string spans = collect([&](TurnTrace& trace) {
    trace.begin_attempt(upstream, headers);
    trace.end_attempt(503, nullptr);
    trace.begin_attempt(upstream, headers);
    trace.observer()->call_started({.call = 0, .name = "find", .id = "c0"});
  });
  EXPECT_THAT(spans, HasSubstr("4bf92f3577b34da6a3ce929d0e0e4736"));
  EXPECT_THAT(spans, HasSubstr("endTimeUnixNano"));
  EXPECT_THAT(spans, Not(HasSubstr("\"endTimeUnixNano\":\"0\"")));
  EXPECT_THAT(spans, Not(HasSubstr("\"startTimeUnixNano\":\"0\"")));
  EXPECT_THAT(spans, HasSubstr("find"));
  EXPECT_THAT(spans, HasSubstr("main"));
  EXPECT_THAT(spans, HasSubstr("real/m"));
}

TEST_F(TraceSpansTest, say_how_the_turn_ended) {
  store::RequestOutcome outcome;
  outcome.http_status = 299;
  outcome.finish_reason = FinishReason::length;
  outcome.first_token_ms = 1'500;
  outcome.upstream = "second";
  outcome.attempts = 2;
  outcome.calls = 3;
  outcome.repairs = 4;
  TurnSummary summary;
  summary.usage = Usage{.prompt_tokens = 41,
                        .completion_tokens = 42,
                        .total_tokens = 83,
                        .cached_tokens = 43,
                        .cache_write_tokens = 0,
                        .reasoning_tokens = 44};
  const std::string spans = collect([&](TurnTrace& trace) { trace.end(outcome, summary); });
  const auto text = [](std::string_view key, std::string_view value) {
    return R"({"key":")" + std::string(key) + R"(","value":{"stringValue":")" + std::string(value) +
           R"("}})";
  };
  const auto number = [](std::string_view key, int value) {
    return R"({"key":")" + std::string(key) + R"(","value":{"intValue":")" + std::to_string(value) +
           R"("}})";
  };
  for (
      const std::string& attribute :
      {text("gen_ai.request.model", "m"), text("callgate.request_id", "r1"),
       text("callgate.key", "dev"), text("callgate.dialect", "hermes"),
       text("callgate.upstream", "second"), number("http.response.status_code", 299),
       number("gen_ai.usage.input_tokens", 41), number("gen_ai.usage.output_tokens", 42),
       number("gen_ai.usage.cache_read.input_tokens", 43),
       number("gen_ai.usage.reasoning.output_tokens", 44), number("callgate.attempts", 2),
       number("callgate.calls", 3), number("callgate.repairs", 4),
       std::string(R"("gen_ai.response.time_to_first_chunk","value":{"doubleValue":1.5})"),
       std::string(
           R"("gen_ai.response.finish_reasons","value":{"arrayValue":{"values":[{"stringValue":"length"}]}})"),
       std::string(R"({"key":"gen_ai.request.stream","value":{"boolValue":true}})")}) {
    EXPECT_THAT(spans, HasSubstr(attribute));
  }
  EXPECT_THAT(spans, Not(HasSubstr("error.type")));
}

// `"name":"execute_tool find" ... "startTimeUnixNano":"1"`: the span's object.
std::string span_named(const std::string& spans, const std::string& name) {
  const std::size_t at = spans.find("\"name\":\"" + name + "\"");
  if (at == std::string::npos) return {};
  return spans.substr(at, spans.find("\"name\":", at + 1) - at);
}

// A tool that the gateway runs: its span lasts as long as the run, and what it calls continues the trace there.
TEST_F(TraceSpansTest, cover_the_run_of_a_tool_and_count_tries_by_round) {
  UpstreamConfig upstream;
  upstream.name = "main";
  TurnTrace::HeaderList headers;
  std::string parent;
  const std::string spans = collect([&](TurnTrace& trace) {
    trace.begin_round(0, false);
    trace.begin_attempt(upstream, headers);
    trace.observer()->call_started({.call = 0, .name = "find", .id = "c0"});
    trace.observer()->call_finished({.call = 0, .outcome = CallOutcome::complete});
    parent = trace.begin_tool("c0", "find").traceparent;
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    trace.end_tool("c0", "find", "error");
    trace.end_attempt(200, nullptr);
    trace.begin_round(1, false);
    trace.begin_attempt(upstream, headers);
    trace.end_attempt(200, nullptr);
  });
  const std::string span = span_named(spans, "execute_tool find");
  ASSERT_FALSE(span.empty()) << spans;
  const auto time = [&](std::string_view key) {
    const std::size_t at = span.find(key);
    return std::stoll(span.substr(at + key.size() + 3));
  };
  EXPECT_GE(time("endTimeUnixNano") - time("startTimeUnixNano"), 30'000'000);
  EXPECT_THAT(span, HasSubstr(R"("error.type","value":{"stringValue":"error"})"));
  ASSERT_EQ(parent.size(), 55u);
  EXPECT_THAT(spans, HasSubstr("\"spanId\":\"" + parent.substr(36, 16) + "\""));
  EXPECT_THAT(parent, HasSubstr("4bf92f3577b34da6a3ce929d0e0e4736"));
  EXPECT_THAT(spans, Not(HasSubstr(R"("http.request.resend_count","value":{"intValue":"1"})")));
  EXPECT_THAT(spans, HasSubstr(R"("callgate.round","value":{"intValue":"1"})"));
}

TEST_F(TraceSpansTest, say_why_a_turn_failed) {
  store::RequestOutcome outcome;
  outcome.state = store::RequestState::failed;
  outcome.error_code = "unavailable";
  const auto type_of = [&] {
    return collect([&](TurnTrace& trace) { trace.end(outcome, TurnSummary()); });
  };
  const std::string failed = type_of();
  EXPECT_THAT(failed, HasSubstr(R"("error.type","value":{"stringValue":"unavailable"})"));
  EXPECT_THAT(failed, Not(HasSubstr("gen_ai.usage")));
  EXPECT_THAT(failed, Not(HasSubstr("finish_reasons")));
  outcome.state = store::RequestState::disconnected;
  EXPECT_THAT(type_of(), HasSubstr(R"("stringValue":"client_disconnected")"));
}

}  // namespace
}  // namespace callgate::server::trace_spans_test
