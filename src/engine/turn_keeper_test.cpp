#include "engine/turn_keeper.h"

#include <gtest/gtest.h>

#include "callgate/pipeline.h"

namespace callgate::engine::turn_keeper_test {
namespace {

std::string frame(std::string_view data) { return "data: " + std::string(data) + "\n\n"; }
std::string delta(std::string_view json, int choice = 0) {
  return frame("{\"choices\":[{\"index\":" + std::to_string(choice) +
               ",\"delta\":" + std::string(json) + "}]}");
}
std::string finish(std::string_view reason, int choice = 0) {
  return frame("{\"choices\":[{\"index\":" + std::to_string(choice) +
               ",\"delta\":{},\"finish_reason\":\"" + std::string(reason) + "\"}]}");
}
const std::string kUsage =
    frame(R"({"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4,"total_tokens":7}})");
const std::string kDone = frame("[DONE]");
const std::string kCall = delta(
    R"({"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"f","arguments":""}}]})");
const std::string kArguments =
    delta(R"({"tool_calls":[{"index":0,"function":{"arguments":"{\"a\":"}}]})") +
    delta(R"({"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]})");
const std::string kCallEvent =
    R"({"type":"call","index":0,"id":"c1","name":"f","arguments":"{\"a\":1}","outcome":"complete"})";

struct Turn {
  KeptTurn kept;
  std::string out;
  TurnSummary summary;
};

Turn run(const Request& request, const std::string& upstream, bool closed, std::size_t keep) {
  Turn turn;
  auto pipeline = Pipeline::make(
      request, {.created = 5, .id_seed = 7, .policy = {.estimate_usage = true}, .keep = keep});
  pipeline->push(upstream, turn.out);
  if (closed) pipeline->finish(turn.out);
  turn.kept = pipeline->kept();
  turn.summary = pipeline->summary();
  return turn;
}

Turn stream(const std::string& upstream, bool closed = true, std::size_t keep = 1 << 20) {
  return run({.model = "m", .choices = 2, .stream = true}, upstream, closed, keep);
}

TEST(TurnKeeper, tells_a_stream_as_the_whole_answer_byte_for_byte) {
  const std::string upstreams[] = {
      delta(R"({"content":"Hel"})") + delta(R"({"content":"lo"})") + finish("stop") + kUsage +
          kDone,
      delta(R"({"reasoning_content":"hm"})") + delta(R"({"content":"a"})") + kCall + kArguments +
          finish("tool_calls") + kDone,
      delta(R"({"refusal":"no"})") + delta(R"({"content":"b"})", 1) + finish("stop", 1) +
          finish("content_filter") + kDone,
      frame(
          R"({"service_tier":"x","choices":[{"index":0,"delta":{"content":"t"},"logprobs":{"content":[{"token":"t"}]}}]})") +
          frame(
              R"({"choices":[{"index":0,"delta":{"content":"u"},"logprobs":{"content":[{"token":"u"}]}}]})") +
          finish("length") + kDone,
      frame(R"({"x_groq":{"id":"r"},"choices":[{"index":0,"delta":{"images":[{"u":1}]}}]})") +
          frame(R"({"choices":[{"index":0,"delta":{"images":[2],"audio":{"data":"A"}},"f":1}]})") +
          frame(R"({"choices":[{"index":0,"delta":{"audio":{"data":"B"}},"f":2}]})") + kCall +
          delta(R"({"tool_calls":[{"index":0,"extra_content":{"s":1}}]})") + kArguments +
          finish("tool_calls") +
          frame(R"({"choices":[],"usage":{"completion_tokens":4,"cost":0.5}})") + kDone,
  };
  for (const std::string& upstream : upstreams) {
    const Turn whole = run({.model = "m", .choices = 2}, upstream, true, 1 << 20);
    const Turn streamed = stream(upstream);
    EXPECT_NE(whole.out, "");
    EXPECT_EQ(streamed.kept.response, whole.out);
    EXPECT_EQ(whole.kept.response, "");
    EXPECT_EQ(streamed.kept.events, whole.kept.events);
  }
}

TEST(TurnKeeper, joins_runs_and_tells_the_last_usage_once) {
  const std::string upstream =
      delta(R"({"reasoning_content":"h"})") + delta(R"({"reasoning_content":"m"})") +
      delta(R"({"content":"a"})") + kUsage + delta(R"({"content":"b"})") + kCall + kArguments +
      finish("tool_calls") + delta(R"({"content":"x"})", 1) + finish("stop", 1) + kDone;
  const KeptTurn kept = stream(upstream).kept;
  EXPECT_EQ(
      kept.events,
      R"([{"type":"reasoning","text":"hm"},{"type":"text","text":"ab"},)" + kCallEvent +
          R"(,{"type":"usage","prompt_tokens":3,"completion_tokens":4,"total_tokens":7,"cached_tokens":0,"cache_write_tokens":0,"reasoning_tokens":0},)"
          R"({"type":"finish","reason":"tool_calls"},{"type":"text","choice":1,"text":"x"},{"type":"finish","choice":1,"reason":"stop"}])");
  EXPECT_EQ(kept.search, "f\nab\nx");
}

TEST(TurnKeeper, tells_a_turn_that_was_left_as_far_as_it_came) {
  const Turn text = stream(delta(R"({"content":"half"})"), false);
  EXPECT_EQ(text.kept.events, R"([{"type":"text","text":"half"}])");
  EXPECT_NE(text.kept.response.find(R"("content":"half")"), std::string::npos);
  EXPECT_NE(text.kept.response.find(R"("finish_reason":null)"), std::string::npos);
  EXPECT_FALSE(text.summary.known_reason);

  const Request declared{.model = "m", .tools = {{.name = "f"}}, .choices = 2, .stream = true};
  const Turn open = run(declared, kCall, false, 1 << 20);
  EXPECT_NE(open.kept.events.find(R"("arguments":"","outcome":"truncated"}])"), std::string::npos);
  EXPECT_FALSE(open.summary.known_reason);

  const Turn called = stream(kCall + kArguments, false);
  EXPECT_EQ(called.kept.events, "[" + kCallEvent + R"(,{"type":"finish","reason":"tool_calls"}])");
  EXPECT_NE(called.kept.response.find(R"("finish_reason":"tool_calls")"), std::string::npos);
  EXPECT_EQ(called.kept.reason, FinishReason::tool_calls);
}

TEST(TurnKeeper, knows_the_reason_of_the_first_choice_as_soon_as_it_is_certain) {
  const std::string text = delta(R"({"content":"a"})");
  EXPECT_EQ(stream(text + finish("length") + kDone, false).summary.known_reason,
            FinishReason::length);
  EXPECT_EQ(stream(text + finish("stop") + kUsage + kDone).summary.known_reason,
            FinishReason::stop);
  EXPECT_EQ(
      stream(text + finish("length") + delta(R"({"content":"b"})", 1) + finish("stop", 1) + kDone)
          .summary.known_reason,
      FinishReason::length)
      << "the second choice does not count";
  EXPECT_FALSE(stream(kCall + kArguments + text, false).summary.known_reason)
      << "more was said after the call";
  EXPECT_FALSE(stream(text + frame(R"({"error":{"message":"broken","type":"server_error"}})"))
                   .summary.known_reason)
      << "the turn failed";
}

TEST(TurnKeeper, makes_up_no_finish_reason_for_a_turn_that_failed) {
  const Turn turn = stream(delta(R"({"content":"half"})") +
                           frame(R"({"error":{"message":"broken","type":"server_error"}})"));
  EXPECT_EQ(turn.kept.events, R"([{"type":"text","text":"half"}])");
  EXPECT_NE(turn.kept.response.find(R"("finish_reason":null)"), std::string::npos);
}

TEST(TurnKeeper, drops_a_turn_that_is_too_long_and_says_so) {
  const Turn turn =
      stream(delta(R"({"content":"123456"})") + delta(R"({"content":"789"})"), false, 8);
  EXPECT_TRUE(turn.kept.too_long);
  EXPECT_EQ(turn.kept.events, R"([{"type":"too_long","bytes":9}])");
  EXPECT_EQ(turn.kept.response, "");
  EXPECT_EQ(turn.kept.search, "");
}

TEST(TurnKeeper, keeps_nothing_unless_asked) {
  const KeptTurn kept = stream(delta(R"({"content":"x"})") + finish("stop") + kDone, true, 0).kept;
  EXPECT_EQ(kept.events + kept.response + kept.search, "");
}

}  // namespace
}  // namespace callgate::engine::turn_keeper_test
