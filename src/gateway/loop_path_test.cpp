// A tool loop from its request to its answer and its row in the log.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gateway/gateway_testing.h"

namespace callgate::server::loop_path_test {
namespace {

using testing::HasSubstr;
using testing::Not;

const HeaderPairs kLoop{{"x-callgate-loop", "1"}};

std::string chunk(std::string_view delta, std::string_view reason = "null") {
  return R"(data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":)" +
         std::string(delta) + R"(,"finish_reason":)" + std::string(reason) + "}]}\n\n";
}
std::string text(std::string_view words) {
  return chunk(R"({"role":"assistant","content":")" + std::string(words) + "\"}");
}
std::string call(int index) {
  const std::string number = std::to_string(index);
  return chunk(R"({"tool_calls":[{"index":)" + number + R"(,"id":"call_)" + number +
               R"(","type":"function","function":{"name":"look","arguments":"{\"n\":)" + number +
               "}\"}}]}");
}
const std::string kStop = chunk("{}", "\"stop\"") + "data: [DONE]\n\n";
const std::string kCalls = chunk("{}", "\"tool_calls\"") + "data: [DONE]\n\n";
const FakeServer::Reply kSunny{.headers = {{"content-type", "text/plain"}}, .pieces = {"sunny"}};

class LoopPathTest : public testing::Test {
 protected:
  std::string config(std::string_view more = {}, std::string_view wire = "openai_chat") const {
    return "[[upstream]]\nname = \"a\"\nurl = \"" + server_.url() + "\"\nwire = \"" +
           std::string(wire) + "\"\n[[model]]\nname = \"m\"\nupstream = [\"a\"]\n" +
           "[[tool]]\nname = \"look\"\nkind = \"http\"\nurl = \"" + tool_server_.url() +
           "/\"\naddresses = [\"127.0.0.0/8\"]\n" + std::string(more);
  }

  net::Loop loop_;
  FakeServer server_{loop_};
  FakeServer tool_server_{loop_};
};

std::string question(bool stream) {
  return std::string(R"({"model":"m","stream":)") + (stream ? "true" : "false") +
         R"(,"messages":[{"role":"user","content":"hi"}]})";
}

// The model writes nothing more until the tool has been asked.
TEST_F(LoopPathTest, starts_a_tool_with_the_end_of_its_call) {
  TestGateway gateway(loop_, config("", "anthropic_messages"));
  net::Signal goes_on(loop_);
  server_.then(
      {.pieces =
           {R"(data: {"type":"message_start","message":{"id":"m","content":[]}}

data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t1","name":"look","input":{}}}

data: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"n\":1}"}}

data: {"type":"content_block_stop","index":0}

)",
            R"(data: {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":4}}

data: {"type":"message_stop"}

)"},
       .after_first = &goes_on});
  tool_server_.then(kSunny);
  server_.then({.pieces = {R"(data: {"type":"message_start","message":{"id":"m","content":[]}}

data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Sunny."}}

data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":4}}

data: {"type":"message_stop"}

)"}});
  bool early = false;
  loop_.spawn(
      [](net::Loop& loop, net::Signal& signal, bool& seen, FakeServer& tools) -> net::Task<> {
        for (int i = 0; i < 5'000 && tools.asked().empty(); ++i)
          co_await loop.sleep(net::Millis(1));
        seen = !tools.asked().empty();
        signal.notify();
      }(loop_, goes_on, early, tool_server_));
  const TestAnswer answer = gateway.ask(question(false), kLoop);
  EXPECT_TRUE(early) << "the tool was asked only when the model's turn went on";
  EXPECT_THAT(answer.body, HasSubstr("Sunny."));
}

TEST_F(LoopPathTest, says_that_a_limit_cut_the_answer) {
  TestGateway gateway(loop_, config("[loop]\ncalls_per_round = 2\n"));
  for (const bool stream : {false, true}) {
    std::string turn;
    for (int i = 0; i < 164; ++i) turn += call(i);
    server_.then({.pieces = {turn, kCalls}});
    for (int i = 0; i < 2; ++i) tool_server_.then(kSunny);
    const TestAnswer answer = gateway.ask(question(stream), kLoop);
    EXPECT_EQ(answer.status, 200);
    EXPECT_THAT(answer.body, HasSubstr(R"("finish_reason":"length")"));
    EXPECT_THAT(answer.body, Not(HasSubstr(R"("finish_reason":"stop")")));
    EXPECT_THAT(answer.body, HasSubstr(R"("end_reason":"max_calls")"));
    if (!stream) EXPECT_EQ(answer.header("x-callgate-loop-end"), "max_calls");
    EXPECT_EQ(gateway.log().rows().back().outcome.finish_reason, FinishReason::length);
    EXPECT_EQ(gateway.log().rows().back().outcome.cut, "loop_max_calls");
  }
}

TEST_F(LoopPathTest, keeps_the_rounds_in_the_log_and_their_texts_apart) {
  TestGateway gateway(loop_, config());
  server_.then({.pieces = {text("I look it up."), call(0), kCalls}});
  tool_server_.then(kSunny);
  server_.then({.pieces = {text("It is sunny."), kStop}});
  const TestAnswer answer = gateway.ask(question(false), kLoop);
  EXPECT_THAT(answer.body, HasSubstr(R"("content":"I look it up.\n\nIt is sunny.")"));
  EXPECT_EQ(answer.header("x-callgate-loop-end"), "completed");
  const std::string& events = gateway.log().rows().back().outcome.events;
  EXPECT_THAT(events, HasSubstr(R"([{"type":"round","round":0,)"));
  EXPECT_THAT(
      events,
      HasSubstr(
          R"({"type":"text","text":"I look it up."},{"type":"call","index":0,"id":"call_0","name":"look","arguments":"{\"n\":0}","outcome":"complete"})"));
  EXPECT_THAT(
      events,
      HasSubstr(R"({"type":"result","id":"call_0","name":"look","is_error":false,"duration_ms":)"));
  EXPECT_THAT(events, HasSubstr(R"("bytes":5,"text":"sunny"},{"type":"round","round":1,)"));
  EXPECT_THAT(events, HasSubstr(R"({"type":"text","text":"It is sunny."})"));
}

// The calls that are passed over cost nothing: neither rows, nor results, nor memory.
TEST_F(LoopPathTest, reads_only_so_many_calls_of_a_turn) {
  TestGateway gateway(loop_, config("[loop]\nmax_calls_read = 3\non_limit = \"tell_model\"\n"));
  std::string turn;
  for (int i = 0; i < 3'000; ++i) turn += call(i);
  server_.then({.pieces = {turn, kCalls}});
  for (int i = 0; i < 3; ++i) tool_server_.then(kSunny);
  server_.then({.pieces = {text("Done."), kStop}});
  const TestAnswer answer = gateway.ask(question(false), kLoop);
  EXPECT_THAT(answer.body, HasSubstr("Done."));
  EXPECT_EQ(tool_server_.asked().size(), 3u);
  EXPECT_THAT(server_.asked().back().body, HasSubstr("2997 more calls of this turn were not read"));
}

}  // namespace
}  // namespace callgate::server::loop_path_test
