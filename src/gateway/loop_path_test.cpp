// A tool loop from its request to its answer and its row in the log.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gateway/gateway_testing.h"
#include "json/member.h"

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
  net::Signal never_{loop_};  // outlives the servers, which may wait for it
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

std::vector<std::string> types_of(const std::vector<FakeServer::Asked>& told) {
  std::vector<std::string> types;
  for (const FakeServer::Asked& event : told) {
    types.emplace_back(json::member_text(event.body, "type"));
  }
  return types;
}

// Nothing but the head and the announcement has left when the person decides.
TEST_F(LoopPathTest, announces_a_call_that_waits_for_approval) {
  FakeServer hook(loop_);
  TestGateway gateway(loop_,
                      config("approval = true\n[[hook]]\nname = \"pager\"\nwhen = [\"loop_start\", "
                             "\"approval\", \"round\", \"loop_end\"]\nurl = \"" +
                             hook.url() + "/told\"\naddresses = [\"127.0.0.0/8\"]\n"));
  for (int i = 0; i < 5; ++i) hook.then({.status = 204, .headers = {}, .pieces = {}});
  server_.then({.pieces = {call(0), kCalls}});
  tool_server_.then(kSunny);
  server_.then({.pieces = {text("Sunny."), kStop}});
  std::string id;
  std::string before;
  std::string body;
  gateway.run([](TestGateway& on, std::string& loop_id, std::string& first,
                 std::string& all) -> net::Task<> {
    net::ClientExchange exchange(on.client(), on.target());
    const std::string asked = question(true);
    const net::ClientRequest request = TestGateway::request(asked, kLoop);
    const auto sent = co_await exchange.send(request);
    EXPECT_TRUE(sent.has_value());
    loop_id = exchange.headers().find("x-callgate-loop").value_or("");
    while (first.find("approval_required") == std::string::npos) {
      const auto bytes = co_await exchange.read();
      if (!bytes || bytes->empty()) co_return;
      first += *bytes;
    }
    const auto run = on.world().loops.list().at(0).approvals.at(0).run;
    (void)on.world().loops.steer(loop_id, nullptr,
                                 {.kind = LoopCommand::Kind::approve, .text = {}, .run = run});
    const auto rest = co_await exchange.read_all(1 << 20);
    if (rest) all = *rest;
  }(gateway, id, before, body));
  EXPECT_THAT(before, HasSubstr(R"("callgate":{"type":"callgate.approval_required","loop":")" + id +
                                R"(","run":)"));
  EXPECT_THAT(before, HasSubstr(R"("name":"look","arguments":"{\"n\":0}"})"));
  EXPECT_THAT(body, HasSubstr("Sunny."));
  gateway.run([](net::Loop& loop, FakeServer& told) -> net::Task<> {
    for (int i = 0; i < 5'000 && told.asked().size() < 5; ++i) co_await loop.sleep(net::Millis(2));
  }(loop_, hook));
  EXPECT_THAT(types_of(hook.asked()),
              testing::UnorderedElementsAre("loop_start", "approval_required", "round", "round",
                                            "loop_end"));
  for (const FakeServer::Asked& event : hook.asked()) {
    EXPECT_THAT(event.body, HasSubstr("\"loop\":\"" + id + "\""));
    EXPECT_THAT(event.body, HasSubstr(R"("context":{"request":"req_)"));
    const std::string type = json::member_text(event.body, "type");
    if (type == "approval_required") EXPECT_THAT(event.body, HasSubstr(R"("arguments":{"n":0})"));
    if (type == "loop_end") {
      EXPECT_THAT(event.body, HasSubstr(R"("end_reason":"completed","rounds":1,"calls":1)"));
    }
  }
}

// A hook that does not answer holds nothing up.
TEST_F(LoopPathTest, does_not_wait_for_hooks_that_are_told) {
  net::Signal first(loop_);
  net::Signal second(loop_);
  net::Signal third(loop_);
  FakeServer hook(loop_);  // goes first: it waits for them
  for (net::Signal* never : {&first, &second, &third}) {
    hook.then({.pieces = {"x"}, .before = never});
  }
  TestGateway gateway(loop_, config("[[hook]]\nname = \"slow\"\nwhen = [\"loop_start\", \"round\", "
                                    "\"loop_end\"]\ntimeout = \"60s\"\nurl = \"" +
                                    hook.url() + "/\"\naddresses = [\"127.0.0.0/8\"]\n"));
  server_.then({.pieces = {text("Hi."), kStop}});
  EXPECT_THAT(gateway.ask(question(false), kLoop).body, HasSubstr("Hi."));
  for (net::Signal* never : {&first, &second, &third}) never->notify();
}

// Rounds are reported with all their calls.
TEST_F(LoopPathTest, reports_the_calls_of_a_round_to_hooks) {
  FakeServer hook(loop_);
  TestGateway gateway(loop_, config("[[hook]]\nname = \"h\"\nwhen = [\"round\"]\nurl = \"" +
                                    hook.url() + "/\"\naddresses = [\"127.0.0.0/8\"]\n"));
  for (int i = 0; i < 2; ++i) hook.then({.status = 204, .headers = {}, .pieces = {}});
  server_.then({.pieces = {call(0), call(1), kCalls}});
  for (int i = 0; i < 2; ++i) tool_server_.then(kSunny);
  server_.then({.pieces = {text("Sunny."), kStop}});
  EXPECT_THAT(gateway.ask(question(false), kLoop).body, HasSubstr("Sunny."));
  gateway.run([](net::Loop& loop, FakeServer& told) -> net::Task<> {
    for (int i = 0; i < 5'000 && told.asked().size() < 2; ++i) co_await loop.sleep(net::Millis(2));
  }(loop_, hook));
  std::vector<std::string> calls;
  for (const FakeServer::Asked& event : hook.asked()) {
    calls.emplace_back(json::member_json(event.body, "calls"));
  }
  EXPECT_THAT(calls, testing::Contains(testing::MatchesRegex(
                         R"(\[\{"id":"call_0","name":"look",[^}]*\},\{"id":"call_1",[^}]*\}\])")));
  EXPECT_THAT(calls, testing::Contains("[]")) << "the last round has none";
}

TEST_F(LoopPathTest, checks_arguments_against_the_schema_of_a_tool) {
  TestGateway gateway(
      loop_, config(R"(parameters = '{"type":"object","properties":{"n":{"type":"string"}}}')"
                    "\n"));
  server_.then({.pieces = {call(0), kCalls}});
  server_.then({.pieces = {text("Sorry."), kStop}});
  EXPECT_THAT(gateway.ask(question(false), kLoop).body, HasSubstr("Sorry."));
  EXPECT_TRUE(tool_server_.asked().empty());
  ASSERT_EQ(server_.asked().size(), 2u);
  EXPECT_THAT(server_.asked()[1].body, HasSubstr("\"role\":\"tool\""));
}

// What an upstream finds too long is asked again without old results; the log keeps them.
TEST_F(LoopPathTest, goes_on_when_the_context_is_full) {
  TestGateway gateway(loop_, config("[loop]\nevict_bytes = 0\n"));
  const FakeServer::Reply long_result{.headers = {{"content-type", "text/plain"}},
                                      .pieces = {std::string(60'000, 'x')}};
  server_.then({.pieces = {call(0), kCalls}});
  tool_server_.then(long_result);
  server_.then({.pieces = {call(1), kCalls}});
  tool_server_.then(long_result);
  server_.then({.status = 400,
                .headers = {{"content-type", "application/json"}},
                .pieces = {R"({"error":{"message":"too long","type":"invalid_request_error",)"
                           R"("code":"context_length_exceeded"}})"}});
  server_.then({.pieces = {text("Done."), kStop}});
  const TestAnswer answer = gateway.ask(question(false), kLoop);
  EXPECT_EQ(answer.status, 200);
  EXPECT_THAT(answer.body, HasSubstr("Done."));
  ASSERT_EQ(server_.asked().size(), 4u);
  EXPECT_GT(server_.asked()[2].body.size(), 120'000u);
  EXPECT_THAT(server_.asked()[3].body, HasSubstr("bytes of this result were left out"));
  EXPECT_LT(server_.asked()[3].body.size(), 70'000u);
  EXPECT_THAT(gateway.log().rows().back().outcome.events, HasSubstr(R"("bytes":60000)"));
}

TEST_F(LoopPathTest, keeps_to_the_context_that_the_model_is_known_to_have) {
  TestGateway gateway(
      loop_, "[[upstream]]\nname = \"a\"\nurl = \"" + server_.url() +
                 "\"\n[[model]]\nname = \"m\"\nupstream = [\"a\"]\ncontext_length = 20000\n" +
                 "[[tool]]\nname = \"look\"\nkind = \"http\"\nurl = \"" + tool_server_.url() +
                 "/\"\naddresses = [\"127.0.0.0/8\"]\n[loop]\nevict_bytes = 0\n");
  const FakeServer::Reply long_result{.headers = {{"content-type", "text/plain"}},
                                      .pieces = {std::string(60'000, 'x')}};
  for (int i = 0; i < 2; ++i) {
    server_.then({.pieces = {call(i), kCalls}});
    tool_server_.then(long_result);
  }
  server_.then({.pieces = {text("Done."), kStop}});
  EXPECT_THAT(gateway.ask(question(false), kLoop).body, HasSubstr("Done."));
  ASSERT_EQ(server_.asked().size(), 3u);
  EXPECT_THAT(server_.asked()[2].body, HasSubstr("bytes of this result were left out"));
}

class FullContextTest : public LoopPathTest {
 protected:
  std::string tight(std::string_view more) const {
    return "[[upstream]]\nname = \"a\"\nurl = \"" + server_.url() +
           "\"\n[[model]]\nname = \"m\"\nupstream = [\"a\"]\nretries = 0\n" +
           "estimate_usage = false\ncontext_length = 1000\n[[tool]]\nname = \"look\"\nkind = "
           "\"http\"\nurl = \"" +
           tool_server_.url() + "/\"\naddresses = [\"127.0.0.0/8\"]\n[loop]\n" + std::string(more);
  }
  // The model says so much in each round that leaving out results is not enough.
  void play_rounds(int count) {
    for (int i = 0; i < count; ++i) {
      server_.then({.pieces = {text(std::string(1'200, 'w')), call(i), kCalls}});
      tool_server_.then(kSunny);
    }
  }
};

const std::string kUsedByHand =
    "data: {\"id\":\"x\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\","
    "\"choices\":[],\"usage\":{\"prompt_tokens\":100,\"completion_tokens\":7,\"total_tokens\":107}}"
    "\n\n";

TEST_F(FullContextTest, gets_a_summary_by_the_model_where_results_are_not_enough) {
  TestGateway gateway(loop_, tight(""));
  play_rounds(3);
  const std::string used = chunk("{}", "\"stop\"") + kUsedByHand + "data: [DONE]\n\n";
  server_.then({.pieces = {text("It was sunny twice."), used}});
  server_.then({.pieces = {text("Done."), used}});
  const TestAnswer answer = gateway.ask(question(false), kLoop);
  EXPECT_EQ(answer.status, 200);
  EXPECT_THAT(answer.body, HasSubstr("Done."));
  EXPECT_THAT(answer.body, Not(HasSubstr("sunny twice"))) << "the summary is not the client's";
  ASSERT_EQ(server_.asked().size(), 5u);
  EXPECT_THAT(server_.asked()[3].body, HasSubstr("Call: look"));
  EXPECT_THAT(server_.asked()[3].body, HasSubstr("\"max_tokens\":225"));
  EXPECT_THAT(server_.asked()[3].body, Not(HasSubstr("\"tools\"")));
  EXPECT_THAT(server_.asked()[4].body, HasSubstr("It was sunny twice."));
  EXPECT_THAT(server_.asked()[4].body, Not(HasSubstr("call_0")));
  EXPECT_THAT(server_.asked()[4].body, HasSubstr("call_2"));
  // What it cost counts, and the log keeps every round.
  EXPECT_EQ(gateway.log().rows().back().outcome.usage->prompt_tokens, 200);
  EXPECT_THAT(gateway.log().rows().back().outcome.events, HasSubstr("call_0"));
  EXPECT_THAT(gateway.world().metrics.render(),
              HasSubstr("callgate_loop_compactions_total{model=\"m\",done=\"summary\"} 1"));
}

TEST_F(FullContextTest, does_without_where_the_model_refuses_to_summarize) {
  TestGateway gateway(loop_, tight(""));
  play_rounds(3);
  server_.then({.status = 500, .headers = {}, .pieces = {"no"}});
  server_.then({.pieces = {text("Done."), kStop}});
  EXPECT_THAT(gateway.ask(question(true), kLoop).body, HasSubstr("Done."));
  ASSERT_EQ(server_.asked().size(), 5u);
  EXPECT_THAT(server_.asked()[4].body, HasSubstr("Earlier calls, left out with their results"));
  EXPECT_THAT(gateway.world().metrics.render(),
              HasSubstr("callgate_loop_compactions_total{model=\"m\",done=\"no_summary\"} 1"));
}

TEST_F(FullContextTest, asks_for_no_summary_where_none_is_wanted) {
  TestGateway gateway(loop_, tight("summary_tokens = 0\n"));
  play_rounds(3);
  server_.then({.pieces = {text("Done."), kStop}});
  EXPECT_THAT(gateway.ask(question(false), kLoop).body, HasSubstr("Done."));
  ASSERT_EQ(server_.asked().size(), 4u);
  EXPECT_THAT(server_.asked()[3].body, HasSubstr("Earlier calls, left out with their results"));
}

// The loop's time runs out while the model writes a summary.
TEST_F(FullContextTest, ends_in_time_while_a_summary_is_written) {
  TestGateway gateway(loop_, tight("loop_timeout = \"2s\"\n"));
  play_rounds(3);
  server_.then({.pieces = {text("It was"), text(" sunny.")}, .after_first = &never_});
  const TestAnswer answer = gateway.ask(question(false), kLoop);
  EXPECT_THAT(answer.body, HasSubstr("\"end_reason\":\"timeout\""));
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
