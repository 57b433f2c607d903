#include "callgate/pipeline.h"

#include <gtest/gtest.h>

#include "engine/fake_dialect_testing.h"

namespace callgate::pipeline_test {
namespace {

std::string frame(std::string_view data) { return "data: " + std::string(data) + "\n\n"; }
std::string text(std::string_view content) {
  return frame("{\"choices\":[{\"index\":0,\"delta\":{\"content\":\"" + std::string(content) +
               "\"}}]}");
}
const std::string kStop = frame(R"({"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]})");
const std::string kDone = frame("[DONE]");
const Error kReset{.code = ErrorCode::upstream_failed, .message = "connection reset"};

std::uint32_t count_of(const TurnSummary& summary, Repair repair) {
  return summary.repairs[static_cast<std::size_t>(repair)];
}

bool contains(std::string_view whole, std::string_view part) {
  return whole.find(part) != std::string_view::npos;
}

class PipelineTest : public testing::Test {
 protected:
  Pipeline make(PipelineOptions options = {}) {
    Result<Pipeline> pipeline = Pipeline::make(request_, std::move(options));
    EXPECT_TRUE(pipeline.has_value());
    return std::move(*pipeline);
  }

  Request request_{.model = "m", .stream = true};
  std::string out_;
};

TEST_F(PipelineTest, refuses_names_it_does_not_know) {
  EXPECT_EQ(Pipeline::make(request_, {.wire = "x"}).error().message, "unknown wire format \"x\"");
  EXPECT_EQ(Pipeline::make(request_, {.protocol = "x"}).error().message, "unknown protocol \"x\"");
}

TEST_F(PipelineTest, starts_with_the_first_event_that_a_client_sees) {
  Pipeline pipeline = make();
  pipeline.push(frame(R"({"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]})"),
                out_);
  EXPECT_FALSE(pipeline.started());
  EXPECT_EQ(out_, "");
  pipeline.push(text("hi"), out_);
  EXPECT_TRUE(pipeline.started());
  EXPECT_FALSE(pipeline.finished());
  pipeline.push(kStop + kDone, out_);
  EXPECT_TRUE(pipeline.finished());
  EXPECT_FALSE(pipeline.error().has_value());
}

TEST_F(PipelineTest, explains_text_with_offsets_in_the_turn) {
  struct Lines final : Explainer {
    void stayed_text(const StayedText& text) override {
      all += dialect::to_string(text, "") + "\n";
    }
    std::string all;
  } lines;
  request_.tools = {{.name = "f"}};
  Pipeline pipeline = make({.dialect = dialect::find("hermes"), .explain = &lines});
  pipeline.push(text("Hi. "), out_);
  pipeline.push(
      frame(
          R"({"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"f","arguments":"{}"}}]}}]})"),
      out_);
  pipeline.push(text("<tool_call>{'a"), out_);
  pipeline.push(kStop + kDone, out_);
  EXPECT_EQ(lines.all,
            "hermes: opener at byte 4, gave up at byte 16: expected '\"', found \"'\"\n");
}

TEST_F(PipelineTest, names_the_dialect_of_a_call_that_was_missed) {
  request_.tools = {{.name = "f"}};
  const auto missed_in = [&](std::string_view content, std::size_t bytes) {
    Pipeline pipeline = make({.search_missed = bytes});
    pipeline.push(text(content) + kStop + kDone, out_);
    return pipeline.summary().missed_in;
  };
  EXPECT_EQ(missed_in("<tool_call>{'name': 'f'}", 100), "hermes");
  EXPECT_EQ(missed_in("It is sunny.", 100), "");
  EXPECT_EQ(missed_in("<tool_call>{'name': 'f'}", 0), "");
  EXPECT_EQ(missed_in("<tool_call>{'name': 'f'}", 5), "");
  request_.tool_choice.mode = ToolChoice::Mode::none;
  EXPECT_EQ(missed_in("<tool_call>{'name': 'f'}", 100), "");
}

TEST_F(PipelineTest, writes_nothing_for_a_failure_before_the_start) {
  Pipeline pipeline = make();
  pipeline.fail(kReset, out_);
  EXPECT_EQ(out_, "");
  EXPECT_FALSE(pipeline.started());
  EXPECT_TRUE(pipeline.finished());
  EXPECT_EQ(pipeline.error()->message, "connection reset");
  EXPECT_EQ(pipeline.summary().reason, FinishReason::upstream_error);
}

TEST_F(PipelineTest, ends_a_stream_that_fails_midway_with_an_error_frame) {
  Pipeline pipeline = make();
  pipeline.push(text("hi"), out_);
  out_.clear();
  pipeline.fail(kReset, out_);
  EXPECT_TRUE(contains(out_, "\"message\":\"connection reset\""));
  EXPECT_TRUE(out_.ends_with("data: [DONE]\n\n"));
  EXPECT_FALSE(contains(out_, "finish_reason"));
  EXPECT_EQ(pipeline.summary().reason, FinishReason::upstream_error);
}

TEST_F(PipelineTest, ends_well_when_the_connection_fails_after_the_finish_reason) {
  Pipeline pipeline = make();
  pipeline.push(text("hi") + kStop, out_);
  pipeline.fail(kReset, out_);
  EXPECT_TRUE(contains(out_, "\"finish_reason\":\"stop\""));
  EXPECT_TRUE(out_.ends_with("data: [DONE]\n\n"));
  EXPECT_FALSE(pipeline.error().has_value());
}

TEST_F(PipelineTest, answers_a_whole_request_that_fails_midway_with_a_status) {
  request_.stream = false;
  Pipeline pipeline = make();
  pipeline.push(text("hi"), out_);
  pipeline.fail(kReset, out_);
  EXPECT_EQ(out_, "");
  EXPECT_FALSE(pipeline.started());
  EXPECT_TRUE(pipeline.error().has_value());
}

TEST_F(PipelineTest, ignores_everything_after_the_end) {
  Pipeline pipeline = make();
  pipeline.push(text("hi") + kStop + kDone + text("ghost"), out_);
  const std::string before = out_;
  pipeline.push(text("ghost"), out_);
  pipeline.finish(out_);
  pipeline.fail(kReset, out_);
  EXPECT_EQ(out_, before);
  EXPECT_FALSE(contains(out_, "ghost"));
  EXPECT_FALSE(pipeline.error().has_value());
}

TEST_F(PipelineTest, tells_the_client_the_name_it_asked_for_and_an_id_from_the_seed) {
  std::string again;
  Pipeline one = make({.created = 5, .id_seed = 1}), two = make({.created = 5, .id_seed = 1});
  one.push(text("hi"), out_);
  two.push(text("hi"), again);
  EXPECT_EQ(out_, again);
  EXPECT_TRUE(contains(out_, "\"created\":5,\"model\":\"m\""));
  EXPECT_TRUE(contains(out_, "data: {\"id\":\"chatcmpl-"));
}

TEST_F(PipelineTest, refuses_a_frame_over_the_limit) {
  Pipeline pipeline = make({.max_frame = 100});
  pipeline.push(text(std::string(200, 'x')), out_);
  EXPECT_TRUE(pipeline.finished());
  EXPECT_EQ(pipeline.error()->code, ErrorCode::upstream_failed);
}

TEST_F(PipelineTest, refuses_a_body_over_the_limit) {
  Pipeline pipeline = make({.max_body = 100});
  pipeline.push("{\"choices\":\"" + std::string(200, 'x'), out_);
  EXPECT_TRUE(pipeline.finished());
  EXPECT_EQ(pipeline.error()->code, ErrorCode::upstream_failed);
}

TEST_F(PipelineTest, finds_calls_in_text_with_a_dialect) {
  Pipeline pipeline = make({.dialect = &engine::kFakeDialect, .id_seed = 1});
  pipeline.push(text("[find:{}]") + kStop + kDone, out_);
  EXPECT_TRUE(contains(out_, "\"name\":\"find\""));
  EXPECT_TRUE(contains(out_, "\"id\":\"call_"));
  EXPECT_TRUE(contains(out_, "\"finish_reason\":\"tool_calls\""));
  EXPECT_EQ(pipeline.summary().calls, 1u);
  EXPECT_EQ(count_of(pipeline.summary(), Repair::markup_in_text), 0u);
}

TEST_F(PipelineTest, counts_markup_in_text_as_a_repair_when_nobody_chose_the_dialect) {
  Pipeline pipeline = make({.dialect = &engine::kFakeDialect, .dialect_is_default = true});
  pipeline.push(text("(hm)[find:{}]") + kStop + kDone, out_);
  EXPECT_EQ(count_of(pipeline.summary(), Repair::markup_in_text), 2u);
}

TEST_F(PipelineTest, sums_the_turn_up) {
  Pipeline pipeline = make();
  pipeline.push(text("abc") + frame("bad") +
                    frame(R"({"choices":[{"index":0,"delta":{"reasoning_content":"de"}}]})") +
                    kStop + frame(R"({"choices":[],"usage":{"total_tokens":9}})") + kDone,
                out_);
  const TurnSummary& summary = pipeline.summary();
  EXPECT_EQ(summary.reason, FinishReason::stop);
  EXPECT_EQ(summary.text_bytes, 3u);
  EXPECT_EQ(summary.reasoning_bytes, 2u);
  EXPECT_EQ(summary.frames_in, 6u);
  EXPECT_EQ(summary.usage->total_tokens, 9);
  EXPECT_EQ(count_of(summary, Repair::frame_invalid), 1u);
}

// Doubles every text.
class Echo final : public Stage {
 public:
  void push(const Event& event, EventSink& next) override {
    if (std::holds_alternative<TextDelta>(event)) next.accept(event);
    next.accept(event);
  }
};

TEST_F(PipelineTest, applies_the_users_policies_last) {
  Pipeline pipeline = make({.policies = {[] { return std::make_unique<Echo>(); }}});
  pipeline.push(text("ab") + kStop + kDone, out_);
  EXPECT_EQ(pipeline.summary().text_bytes, 4u);
}

// Writes down what it is told.
class Notes final : public TurnObserver {
 public:
  void turn_started(std::string_view response_id) override {
    lines += "turn " + std::string(response_id) + "\n";
  }
  void call_started(const CallStart& start) override {
    lines += "start " + std::to_string(start.choice) + " " + std::to_string(start.call) + " " +
             std::string(start.name) + " " + std::string(start.id) + " at " +
             std::to_string(start.position) + (start.in_text ? " text\n" : " native\n");
  }
  void call_finished(const CallEnd& end) override {
    lines += "end " + std::to_string(end.choice) + " " + std::to_string(end.call) + " outcome " +
             std::to_string(static_cast<int>(end.outcome)) + " bytes " + std::to_string(end.bytes) +
             " at " + std::to_string(end.position) + (end.usage_emitted ? " usage\n" : "\n");
  }
  std::string lines;
};

std::string native_call(std::string_view id, std::string_view arguments) {
  return frame("{\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"" +
               std::string(id) + "\",\"function\":{\"name\":\"find\",\"arguments\":\"" +
               std::string(arguments) + "\"}}]}}]}");
}

TEST_F(PipelineTest, tells_an_observer_when_calls_begin_and_end) {
  Notes notes;
  Pipeline pipeline = make({.response_id = "r1", .observer = &notes});
  pipeline.push(text("a") + text("b") + native_call("c1", "{}") + text("tail") + kStop + kDone,
                out_);
  EXPECT_EQ(notes.lines,
            "turn r1\nstart 0 0 find c1 at 2 native\nend 0 0 outcome 0 bytes 2 at 4\n");
}

TEST_F(PipelineTest, tells_an_observer_of_calls_in_text_and_of_calls_that_break_off) {
  Notes notes;
  Pipeline pipeline = make({.dialect = &engine::kFakeDialect, .observer = &notes});
  pipeline.push(frame(R"({"choices":[],"usage":{"prompt_tokens":1}})") + text("[find:{}]"), out_);
  pipeline.push(native_call("c2", "{"), out_);
  pipeline.fail(kReset, out_);
  const std::string told = notes.lines.substr(notes.lines.find('\n') + 1);
  EXPECT_TRUE(contains(told, " at 0 text\nend 0 0 outcome 0 bytes 2 at 3 usage\n")) << told;
  EXPECT_TRUE(contains(told, "start 0 1 find c2 at 3 text\nend 0 1 outcome 1 bytes 1 at 5 usage\n"))
      << told;
}

TEST_F(PipelineTest, names_every_repair) {
  for (std::size_t i = 0; i < kRepairCount; ++i) {
    EXPECT_FALSE(to_string(static_cast<Repair>(i)).empty());
  }
}

// 256 KiB of arguments in fragments of four bytes: a frame each, none of them longer for those before it.
TEST(Pipeline, writes_the_arguments_of_a_long_call_once) {
  const Request request{.model = "m", .stream = true};
  Result<Pipeline> pipeline = Pipeline::make(request);
  const auto fragment = [](std::string_view header, std::string_view bytes) {
    return "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0," +
           std::string(header) + "\"arguments\":\"" + std::string(bytes) + "\"}}]}}]}\n\n";
  };
  std::string out;
  pipeline->push(fragment("\"id\":\"c\",\"function\":{\"name\":\"f\",", "{\\\"a\\\":\\\""), out);
  constexpr std::size_t kBytes = 256 << 10;
  const std::string four = fragment("\"function\":{", "abcd");
  for (std::size_t sent = 0; sent < kBytes; sent += 4) pipeline->push(four, out);
  pipeline->push(fragment("\"function\":{", "\\\"}") + "data: [DONE]\n\n", out);
  EXPECT_TRUE(pipeline->finished());
  EXPECT_EQ(pipeline->summary().argument_bytes, kBytes + 8);
  EXPECT_LT(out.size(), 80 * kBytes);
}

class Heard final : public EventSink {
 public:
  void accept(const Event& event) override {
    if (const auto* delta = std::get_if<TextDelta>(&event)) said += delta->text;
    if (std::holds_alternative<TurnFinished>(event)) said += "|end";
  }
  std::string said;
};

TEST_F(PipelineTest, gives_events_to_a_sink_and_nothing_to_the_client) {
  Heard sink;
  Pipeline pipeline = make({.sink = &sink});
  pipeline.push(text("hi"), out_);
  EXPECT_EQ(sink.said, "hi");
  pipeline.push(kStop + kDone, out_);
  EXPECT_EQ(sink.said, "hi|end");
  EXPECT_TRUE(pipeline.finished());
  EXPECT_EQ(out_, "");
}

TEST_F(PipelineTest, ends_a_turn_that_failed_for_a_sink_too_and_lets_go_what_it_held_back) {
  Heard sink;
  Pipeline pipeline = make({.sink = &sink});
  pipeline.push(text("hi "), out_);
  EXPECT_EQ(sink.said, "hi");
  pipeline.fail(kReset, out_);
  EXPECT_EQ(sink.said, "hi |end");
  EXPECT_TRUE(pipeline.finished());
  ASSERT_TRUE(pipeline.error().has_value());
  EXPECT_EQ(out_, "");
}

}  // namespace
}  // namespace callgate::pipeline_test
