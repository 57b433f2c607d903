#include "turn/turn_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "telemetry/span_exporter.h"

namespace callgate::server::turn_trace_test {
namespace {

using testing::HasSubstr;

constexpr std::string_view kParent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

class TurnTraceTest : public testing::Test {
 protected:
  TurnTraceTest() {
    telemetry::SpanExporterOptions options;
    options.endpoint = "http://127.0.0.1:1";
    options.interval = net::Millis(3'600'000);
    exporter_ = std::move(*telemetry::SpanExporter::make(options, quiet_));
    world_.spans = exporter_.get();
  }

  std::uint64_t queued() const { return exporter_->counts().queued; }

  const TurnSubject subject_{
      .request = "r1", .key = "", .model = "m", .model_id = "m", .dialect = "hermes"};
  const net::Headers asked_{{"traceparent", kParent}, {"tracestate", "a=1"}};
  UpstreamConfig upstream_;
  TurnTrace::HeaderList headers_;
  IdMint mint_{7};
  std::string lines_;
  telemetry::Logger quiet_{{.level = telemetry::LogLevel::off}};
  telemetry::Metrics metrics_;
  store::NullRequestLog requests_;
  World world_{quiet_, metrics_, requests_, 0};
  std::unique_ptr<telemetry::SpanExporter> exporter_;
};

TEST_F(TurnTraceTest, observes_only_when_somebody_wants_to_know) {
  EXPECT_NE(TurnTrace(world_, mint_, asked_, subject_).observer(), nullptr);
  world_.spans = nullptr;
  TurnTrace trace(world_, mint_, asked_, subject_);
  EXPECT_EQ(trace.observer(), nullptr);
  EXPECT_EQ(trace.trace_text(), kParent.substr(3, 32));
  trace.begin_attempt(upstream_, headers_);
  ASSERT_EQ(headers_.size(), 2u);
  EXPECT_EQ(headers_[0].second, kParent);
  EXPECT_EQ(headers_[1].second, "a=1");
}

TEST_F(TurnTraceTest, gives_each_try_a_span_of_its_own) {
  {
    TurnTrace trace(world_, mint_, asked_, subject_);
    for (int i = 0; i < 20; ++i) {
      trace.begin_attempt(upstream_, headers_);
      trace.end_attempt(503, nullptr);
    }
    trace.end({}, {});
  }
  EXPECT_EQ(queued(), 17u);  // the request's and sixteen
  EXPECT_EQ(headers_.size(), 40u);
  EXPECT_NE(headers_[0].second, headers_[2].second);
  EXPECT_EQ(headers_[0].second.substr(0, 36), kParent.substr(0, 36));
}

TEST_F(TurnTraceTest, keeps_so_many_calls_and_no_more) {
  {
    TurnTrace trace(world_, mint_, asked_, subject_);
    for (CallIndex call = 0; call < 100; ++call) {
      trace.observer()->call_started({.call = call, .name = "f", .id = "c"});
      trace.observer()->call_finished({.call = call});
    }
    trace.end({}, {});
    EXPECT_EQ(queued(), 65u);
  }
  EXPECT_EQ(queued(), 65u);
}

TEST_F(TurnTraceTest, leaves_the_spans_of_a_turn_that_was_destroyed) {
  {
    TurnTrace trace(world_, mint_, asked_, subject_);
    trace.begin_attempt(upstream_, headers_);
    trace.observer()->call_started({.call = 0, .name = "f"});
  }
  EXPECT_EQ(queued(), 3u);
}

TEST_F(TurnTraceTest, logs_calls_at_level_debug_without_a_trace) {
  telemetry::Logger log({.level = telemetry::LogLevel::debug,
                         .write = [this](std::string_view line) { lines_ += line; }});
  World world(log, metrics_, requests_, 0);
  TurnTrace trace(world, mint_, {}, subject_);
  ASSERT_NE(trace.observer(), nullptr);
  trace.observer()->call_started({.call = 1, .name = "f", .position = 4, .in_text = true});
  trace.observer()->call_finished(
      {.call = 1, .outcome = CallOutcome::truncated, .bytes = 9, .position = 6, .in_text = true});
  EXPECT_THAT(lines_, HasSubstr("call_started request=r1 tool_call_index=1 choice=0 tool=f "
                                "delta_position=4 dialect=hermes\n"));
  EXPECT_THAT(lines_, HasSubstr("call_finished request=r1 tool_call_index=1 choice=0 "
                                "delta_position=6 bytes=9 outcome=truncated usage_emitted=false "
                                "dialect=hermes\n"));
}

TEST_F(TurnTraceTest, times_the_gaps_between_writes) {
  TurnTrace trace(world_, mint_, {}, subject_);
  trace.wrote();
  EXPECT_THAT(metrics_.render(), testing::Not(HasSubstr("callgate_inter_frame_seconds_count{")));
  trace.wrote();
  trace.wrote();
  EXPECT_THAT(metrics_.render(), HasSubstr("callgate_inter_frame_seconds_count{model=\"m\"} 2\n"));
}

}  // namespace
}  // namespace callgate::server::turn_trace_test
