// One turn path: what a plain answer reports, a tool loop's answer reports as well.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "gateway/gateway_testing.h"

namespace callgate::server::turn_path_test {
namespace {

using testing::HasSubstr;
using testing::Not;

const HeaderPairs kPlain{};
const HeaderPairs kLoop{{"x-callgate-loop", "1"}};

std::string chunk(std::string_view delta, std::string_view reason = "null") {
  return R"(data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":)" +
         std::string(delta) + R"(,"finish_reason":)" + std::string(reason) + "}]}\n\n";
}
std::string text(std::string_view words) {
  return chunk(R"({"role":"assistant","content":")" + std::string(words) + "\"}");
}
std::string call(std::string_view name) {
  return chunk(
      R"({"role":"assistant","tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":")" +
      std::string(name) + R"(","arguments":"{}"}}]})");
}
const std::string kStop = chunk("{}", "\"stop\"") + "data: [DONE]\n\n";
const std::string kCalls = chunk("{}", "\"tool_calls\"") + "data: [DONE]\n\n";

// A Messages stream, from a server that says what it keeps.
FakeServer::Reply messages_reply() {
  return {.headers = {{"content-type", "text/event-stream"},
                      {"x-callgate-session", "session-9"},
                      {"x-callgate-session-state", "continued"},
                      {"x-callgate-conversation", "new"}},  // says nothing in an answer
          .pieces = {
              R"(event: message_start
data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"c","content":[],"usage":{"input_tokens":3,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

)",
              R"(event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello there."}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

)",
              R"(event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":4}}

event: message_stop
data: {"type":"message_stop"}

)"}};
}

class TurnPathTest : public testing::Test {
 protected:
  std::string upstream(std::string_view name, const FakeServer& server,
                       std::string_view more = {}) const {
    return "[[upstream]]\nname = \"" + std::string(name) + "\"\nurl = \"" + server.url() + "\"\n" +
           std::string(more);
  }
  std::string model(std::string_view upstreams, std::string_view more = {}) const {
    return "[[model]]\nname = \"m\"\nupstream = [" + std::string(upstreams) +
           "]\nretry_backoff = \"1ms\"\n" + std::string(more);
  }
  std::string one_model(std::string_view more = {}) const {
    return upstream("a", server_) + model("\"a\"", more);
  }
  std::string tool() const {
    return "[[tool]]\nname = \"look\"\nkind = \"http\"\nurl = \"" + tool_server_.url() +
           "/\"\naddresses = [\"127.0.0.0/8\"]\n";
  }

  // Outlives whatever waits for it.
  net::Signal& signal() { return *signals_.emplace_back(std::make_unique<net::Signal>(loop_)); }

  net::Loop loop_;
  std::vector<std::unique_ptr<net::Signal>> signals_;
  FakeServer server_{loop_};
  FakeServer tool_server_{loop_};
};

constexpr std::string_view kQuestion =
    R"({"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]})";

// Names and values, without those that differ between any two answers and the loop's own.
HeaderPairs comparable(const TestAnswer& answer) {
  HeaderPairs headers;
  for (const auto& [name, value] : answer.headers) {
    const bool of_one = name == "date" || name == "x-request-id" || name == "content-length" ||
                        name == "x-callgate-loop" || name == "x-callgate-loop-end";
    if (!of_one) headers.emplace_back(name, value);
  }
  std::sort(headers.begin(), headers.end());
  return headers;
}

void expect_same_record(const store::RequestRecord& plain, const store::RequestRecord& loop) {
  EXPECT_NE(plain.id, loop.id);
  EXPECT_NE(plain.received_at, 0);
  EXPECT_NE(loop.received_at, 0);
  EXPECT_EQ(plain.key_name, loop.key_name);
  EXPECT_EQ(plain.protocol, loop.protocol);
  EXPECT_EQ(plain.model, loop.model);
  EXPECT_EQ(plain.upstream, loop.upstream);
  EXPECT_EQ(plain.dialect, loop.dialect);
  EXPECT_EQ(plain.client_address.substr(0, 10), loop.client_address.substr(0, 10));
  EXPECT_EQ(plain.session, loop.session);
  EXPECT_EQ(plain.trace_id, loop.trace_id);
  EXPECT_EQ(plain.stream, loop.stream);
  EXPECT_EQ(plain.received, loop.received);
}

// All columns but `cut`, which names how a loop ended, and what depends on the loop's last frame or on the clock.
void expect_same_outcome(const store::RequestOutcome& plain, const store::RequestOutcome& loop) {
  EXPECT_EQ(plain.state, loop.state);
  EXPECT_EQ(plain.http_status, loop.http_status);
  EXPECT_EQ(plain.finish_reason, loop.finish_reason);
  EXPECT_EQ(plain.error_code, loop.error_code);
  EXPECT_EQ(plain.error_message, loop.error_message);
  EXPECT_EQ(plain.upstream, loop.upstream);
  EXPECT_EQ(plain.dialect, loop.dialect);
  EXPECT_EQ(plain.calls, loop.calls);
  EXPECT_EQ(plain.usage, loop.usage);
  EXPECT_EQ(plain.bytes_in, loop.bytes_in);
  EXPECT_EQ(plain.frames, loop.frames);
  EXPECT_EQ(plain.repairs, loop.repairs);
  EXPECT_EQ(plain.repair_names, loop.repair_names);
  EXPECT_EQ(plain.attempts, loop.attempts);
  EXPECT_EQ(plain.first_byte_ms.has_value(), loop.first_byte_ms.has_value());
  EXPECT_EQ(plain.first_token_ms.has_value(), loop.first_token_ms.has_value());
  EXPECT_EQ(plain.session, loop.session);
  EXPECT_EQ(plain.missed_call, loop.missed_call);
  EXPECT_EQ(plain.call_rows.size(), loop.call_rows.size());
  EXPECT_EQ(plain.sent.empty(), loop.sent.empty());
  EXPECT_EQ(plain.response.empty(), loop.response.empty());
  EXPECT_EQ(plain.events, loop.events);
  EXPECT_EQ(plain.search, loop.search);
}

TEST_F(TurnPathTest, reports_the_same_with_and_without_a_loop) {
  for (const bool stream : {true, false}) {
    SCOPED_TRACE(stream ? "stream" : "whole");
    // The upstream streams in any case, as it does for a loop.
    TestGateway gateway(loop_, upstream("a", server_, "wire = \"anthropic_messages\"\n") +
                                   model("\"a\"", "dialect = \"hermes\"\n"));
    const std::string question =
        R"({"model":"m","stream":)" + std::string(stream ? "true" : "false") +
        R"(,"seed":1,"logit_bias":{"5":1},"max_tokens":9,"messages":[{"role":"user","content":"hi"}])" +
        (stream ? R"(,"stream_options":{"include_usage":true})" : "") + "}";
    const HeaderPairs asked{
        {"x-session-id", "mine"},
        {"traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}};
    HeaderPairs asked_loop = asked;
    asked_loop.insert(asked_loop.end(), kLoop.begin(), kLoop.end());
    server_.then(messages_reply());
    server_.then(messages_reply());
    const TestAnswer plain = gateway.ask(question, asked);
    const TestAnswer loop = gateway.ask(question, asked_loop);
    EXPECT_EQ(plain.status, 200) << plain.body;
    EXPECT_EQ(loop.status, 200) << loop.body;
    EXPECT_EQ(comparable(plain), comparable(loop));
    EXPECT_THAT(plain.header("x-callgate-dropped"), HasSubstr("logit_bias"));
    EXPECT_EQ(loop.header("x-callgate-session"), "session-9");
    EXPECT_EQ(loop.header("x-callgate-session-state"), "continued");
    EXPECT_EQ(loop.header("x-callgate-conversation"), "");
    EXPECT_EQ(loop.header("x-callgate-dialect"), "hermes");
    EXPECT_NE(loop.header("x-callgate-loop"), "");
    EXPECT_EQ(plain.header("x-callgate-loop"), "");
    const store::RequestRow& first = gateway.log().rows()[0];
    const store::RequestRow& second = gateway.log().rows()[1];
    expect_same_record(first.record, second.record);
    expect_same_outcome(first.outcome, second.outcome);
    EXPECT_EQ(first.outcome.session, "session-9");
    EXPECT_EQ(first.outcome.bytes_out, static_cast<std::int64_t>(plain.body.size()));
    EXPECT_EQ(second.outcome.bytes_out, static_cast<std::int64_t>(loop.body.size()));
    EXPECT_EQ(first.outcome.cut, "");
    EXPECT_EQ(second.outcome.cut, "loop_completed");
  }
}

TEST_F(TurnPathTest, passes_on_the_usage_that_an_upstream_states) {
  TestGateway gateway(loop_, one_model());
  for (const HeaderPairs& headers : {kPlain, kLoop}) {
    server_.then({.pieces = {text("Hi"), chunk("{}", "\"stop\""),
                             "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":41,"
                             "\"completion_tokens\":7,\"total_tokens\":48}}\n\n",
                             "data: [DONE]\n\n"}});
    const TestAnswer answer =
        gateway.ask(R"({"model":"m","messages":[{"role":"user","content":"hi"}]})", headers);
    EXPECT_THAT(answer.body, HasSubstr(R"("usage":{"prompt_tokens":41,"completion_tokens":7)"));
    EXPECT_THAT(answer.body, Not(HasSubstr("estimated")));
    EXPECT_EQ(answer.header("x-callgate-usage"), "");
    EXPECT_EQ(gateway.log().rows().back().outcome.usage->total_tokens, 48);
  }
}

TEST_F(TurnPathTest, estimates_the_usage_that_an_upstream_does_not_state) {
  TestGateway gateway(loop_, one_model());
  for (const HeaderPairs& asked : {kPlain, kLoop}) {
    server_.then({.pieces = {text("Hi"), kStop}});
    const TestAnswer answer =
        gateway.ask(R"({"model":"m","messages":[{"role":"user","content":"hi"}]})", asked);
    EXPECT_THAT(answer.body, HasSubstr("\"estimated\":true"));
    EXPECT_EQ(answer.header("x-callgate-usage"), "estimated");
  }
}

TEST_F(TurnPathTest, refuses_the_same_with_and_without_a_loop) {
  TestGateway gateway(loop_, one_model("retries = 0\n"));
  for (int i = 0; i < 2; ++i) {
    server_.then({.status = 429,
                  .headers = {{"retry-after", "7"}},
                  .pieces = {R"({"error":{"message":"slow down","code":"insufficient_quota"}})"}});
  }
  const TestAnswer plain = gateway.ask(kQuestion, kPlain);
  const TestAnswer loop = gateway.ask(kQuestion, kLoop);
  EXPECT_EQ(plain.status, 429);
  EXPECT_EQ(loop.status, 429);
  EXPECT_EQ(comparable(plain), comparable(loop));
  EXPECT_EQ(plain.body, loop.body);
  EXPECT_EQ(loop.header("retry-after"), "7");
  EXPECT_EQ(loop.header("x-should-retry"), "false");
  expect_same_outcome(gateway.log().rows()[0].outcome, gateway.log().rows()[1].outcome);
  EXPECT_THAT(gateway.log().rows()[1].outcome.error_message,
              testing::StartsWith("slow down (upstream \"a\", POST http://127.0.0.1:"));
}

TEST_F(TurnPathTest, breaks_off_the_same_with_and_without_a_loop) {
  TestGateway gateway(loop_, one_model("retries = 0\n") + "[loop]\nturn_retries = 0\n");
  for (int i = 0; i < 2; ++i) {
    server_.then({.pieces = {text("Half"), ": ping\n\n"}, .breaks_off = true});
  }
  for (const HeaderPairs& headers : {kPlain, kLoop}) {
    const TestAnswer answer = gateway.ask(kQuestion, headers);
    EXPECT_EQ(answer.status, 200);
    EXPECT_THAT(answer.body, HasSubstr("Hal"));
    EXPECT_THAT(answer.body, HasSubstr("\"error\""));
    EXPECT_THAT(answer.body, testing::EndsWith("data: [DONE]\n\n"));
    const store::RequestOutcome& outcome = gateway.log().rows().back().outcome;
    EXPECT_EQ(outcome.state, store::RequestState::failed);
    EXPECT_EQ(outcome.http_status, 200);
    EXPECT_EQ(outcome.finish_reason, FinishReason::upstream_error);
    EXPECT_EQ(outcome.bytes_out, static_cast<std::int64_t>(answer.body.size()));
    EXPECT_THAT(outcome.response, HasSubstr("Half"));
  }
}

// A question that insists on a call of the client's own tool.
constexpr std::string_view kInsistent =
    R"({"model":"m","stream":true,"tool_choice":"required","messages":[{"role":"user","content":"hi"}],)"
    R"("tools":[{"type":"function","function":{"name":"find","parameters":{"type":"object"}}}]})";
const std::string kWritten =
    text(R"(<tool_call>\n{\"name\": \"find\", \"arguments\": {}}\n</tool_call>)");

TEST_F(TurnPathTest, asks_a_prompted_model_once_more_for_a_call_that_it_must_make) {
  for (const HeaderPairs& headers : {kPlain, kLoop}) {
    TestGateway gateway(loop_, one_model("tools = \"prompt\"\ndialect = \"hermes\"\n"));
    const std::size_t before = server_.asked().size();
    server_.then({.pieces = {text("I would rather not."), kStop}});
    server_.then({.pieces = {text("Well, "), kWritten, kStop}});
    const TestAnswer answer = gateway.ask(kInsistent, headers);
    EXPECT_EQ(server_.asked().size() - before, 2u);
    EXPECT_THAT(answer.body, Not(HasSubstr("rather")));
    EXPECT_THAT(answer.body, HasSubstr("Well"));
    EXPECT_THAT(answer.body, HasSubstr("\"name\":\"find\""));
    EXPECT_EQ(answer.header("x-callgate-warning"), "");
    const store::RequestOutcome& outcome = gateway.log().rows().back().outcome;
    EXPECT_EQ(outcome.calls, 1);
    EXPECT_EQ(outcome.attempts, 2);
    EXPECT_EQ(outcome.finish_reason, FinishReason::tool_calls);
  }
}

TEST_F(TurnPathTest, warns_of_a_call_that_the_model_does_not_make) {
  for (const HeaderPairs& headers : {kPlain, kLoop}) {
    TestGateway gateway(loop_, one_model("tools = \"prompt\"\ndialect = \"hermes\"\n"));
    server_.then({.pieces = {text("I would rather not."), kStop}});
    server_.then({.pieces = {text("Still "), text("not."), kStop}});
    const TestAnswer answer = gateway.ask(kInsistent, headers);
    EXPECT_EQ(answer.header("x-callgate-warning"),
              "the model made no call although tool_choice asks for one");
    EXPECT_THAT(answer.body, Not(HasSubstr("rather")));
    EXPECT_THAT(answer.body, HasSubstr("Still"));
    EXPECT_EQ(gateway.log().rows().back().outcome.attempts, 2);
  }
}

TEST_F(TurnPathTest, tries_again_what_fails_while_it_is_held_back) {
  for (const HeaderPairs& headers : {kPlain, kLoop}) {
    TestGateway gateway(loop_, one_model("tools = \"prompt\"\ndialect = \"hermes\"\n"));
    server_.then({.pieces = {text("I would"), ": ping\n\n"}, .breaks_off = true});
    server_.then({.pieces = {kWritten, kStop}});
    const TestAnswer answer = gateway.ask(kInsistent, headers);
    EXPECT_EQ(answer.status, 200);
    EXPECT_THAT(answer.body, Not(HasSubstr("error")));
    EXPECT_THAT(answer.body, HasSubstr("\"name\":\"find\""));
  }
}

class FallbackTest : public TurnPathTest {
 protected:
  FallbackTest() {
    for (std::unique_ptr<FakeServer>& each : more_) each = std::make_unique<FakeServer>(loop_);
  }
  std::string config(std::string_view keys) const {
    return upstream("a", server_) + upstream("b", *more_[0]) + upstream("c", *more_[1]) +
           upstream("d", *more_[2]) + model(R"("a", "b", "c", "d")", keys);
  }
  static FakeServer::Reply refusal(int status, std::string_view message, HeaderPairs headers = {}) {
    return {.status = status,
            .headers = std::move(headers),
            .pieces = {R"({"error":{"message":")" + std::string(message) + "\"}}"}};
  }

  std::unique_ptr<FakeServer> more_[3];
};

TEST_F(FallbackTest, asks_every_upstream_of_the_list) {
  for (const HeaderPairs& headers : {kPlain, kLoop}) {
    TestGateway gateway(loop_, config("retries = 0\n"));
    server_.then(refusal(503, "a"));
    more_[0]->then(refusal(503, "b"));
    more_[1]->then(refusal(503, "c"));
    more_[2]->then({.pieces = {text("From d"), kStop}});
    const TestAnswer answer = gateway.ask(kQuestion, headers);
    EXPECT_EQ(answer.status, 200) << answer.body;
    EXPECT_THAT(answer.body, HasSubstr("From d"));
    const store::RequestOutcome& outcome = gateway.log().rows().back().outcome;
    EXPECT_EQ(outcome.upstream, "d");
    EXPECT_EQ(outcome.attempts, 4);
  }
}

TEST_F(FallbackTest, gives_a_wrong_request_back_as_it_is) {
  for (const HeaderPairs& headers : {kPlain, kLoop}) {
    TestGateway gateway(loop_, config(""));
    server_.then(refusal(400, "no such field"));
    const TestAnswer answer = gateway.ask(kQuestion, headers);
    EXPECT_EQ(answer.status, 400);
    EXPECT_THAT(answer.body, HasSubstr("no such field"));
    EXPECT_TRUE(more_[0]->asked().empty());
  }
}

TEST_F(FallbackTest, does_not_ask_an_upstream_before_the_time_that_it_named) {
  TestGateway gateway(loop_, upstream("a", server_) + upstream("b", *more_[0]) +
                                 model(R"("a", "b")", "retries = 2\n"));
  server_.then(refusal(429, "later", {{"retry-after", "60"}}));
  for (int i = 0; i < 3; ++i) more_[0]->then(refusal(500, "broken"));
  const TestAnswer answer = gateway.ask(kQuestion, kPlain);
  EXPECT_EQ(answer.status, 429) << "it says when to come back";
  EXPECT_EQ(answer.header("retry-after"), "60");
  EXPECT_EQ(server_.asked().size(), 1u);
  EXPECT_EQ(more_[0]->asked().size(), 3u);
}

// The client has the head before the tool has answered, or the test waits for ever.
TEST_F(TurnPathTest, sends_the_head_of_a_loop_and_signs_of_life_while_its_tools_run) {
  TestGateway gateway(loop_, one_model() + tool() + "[limits]\nkeepalive_comment = \"20ms\"\n");
  net::Signal& answered = signal();
  server_.then({.pieces = {call("look"), kCalls}});
  tool_server_.then(
      {.headers = {{"content-type", "text/plain"}}, .pieces = {"found"}, .before = &answered});
  server_.then({.pieces = {text("Found."), kStop}});
  std::string head;
  std::string body;
  std::size_t turns_at_head = 0;
  const auto client = [&]() -> net::Task<> {
    net::ClientExchange exchange(gateway.client(), gateway.target());
    const net::ClientRequest asked = TestGateway::request(kQuestion, kLoop);
    const auto sent = co_await exchange.send(asked);
    if (!sent) co_return;
    turns_at_head = server_.asked().size();
    head = exchange.headers().find("x-callgate-loop").value_or("");
    while (body.find(": keep-alive\n\n") == std::string::npos) {
      const auto bytes = co_await exchange.read();
      if (!bytes || bytes->empty()) break;
      body += *bytes;
    }
    answered.notify();
    auto rest = co_await exchange.read_all(1 << 20);
    if (rest) body += *rest;
  };
  gateway.run(client());
  EXPECT_NE(head, "");
  EXPECT_EQ(turns_at_head, 1u) << "the tool had answered before";
  EXPECT_THAT(body, testing::StartsWith(": keep-alive\n\n"));
  EXPECT_THAT(body, HasSubstr("Found."));
  EXPECT_EQ(server_.asked().size(), 2u);
}

// Without the head nobody knows which loop to approve.
TEST_F(TurnPathTest, sends_the_head_of_a_loop_whose_call_waits_for_approval) {
  TestGateway gateway(loop_, one_model() + tool() + "approval = true\n");
  server_.then({.pieces = {call("look"), kCalls}});
  tool_server_.then({.headers = {{"content-type", "text/plain"}}, .pieces = {"found"}});
  server_.then({.pieces = {text("Found."), kStop}});
  std::size_t runs_at_head = 1;
  std::string body;
  const auto client = [&]() -> net::Task<> {
    net::ClientExchange exchange(gateway.client(), gateway.target());
    const net::ClientRequest asked = TestGateway::request(kQuestion, kLoop);
    const auto sent = co_await exchange.send(asked);
    if (!sent) co_return;
    runs_at_head = tool_server_.asked().size();
    const std::string id(exchange.headers().find("x-callgate-loop").value_or(""));
    LoopCommand approve{.kind = LoopCommand::Kind::approve, .text = {}, .run = 1};
    EXPECT_EQ(gateway.world().loops.steer(id, nullptr, std::move(approve)),
              RunningLoops::Answer::taken);
    auto rest = co_await exchange.read_all(1 << 20);
    if (rest) body = std::move(*rest);
  };
  gateway.run(client());
  EXPECT_EQ(runs_at_head, 0u);
  EXPECT_EQ(tool_server_.asked().size(), 1u);
  EXPECT_THAT(body, HasSubstr("Found."));
}

TEST_F(TurnPathTest, ends_the_upstream_call_of_a_client_that_leaves) {
  for (const HeaderPairs& headers : {kPlain, kLoop}) {
    TestGateway gateway(loop_, one_model());
    net::Signal& never = signal();
    server_.then({.pieces = {text("Hel"), text("lo")}, .after_first = &never});
    const auto client = [&]() -> net::Task<> {
      net::ClientExchange exchange(gateway.client(), gateway.target());
      const net::ClientRequest asked = TestGateway::request(kQuestion, headers);
      const auto sent = co_await exchange.send(asked);
      if (sent) (void)co_await exchange.read();
      exchange.cancel();
    };
    gateway.run(client());
    const store::RequestOutcome& outcome = gateway.log().rows().back().outcome;
    EXPECT_EQ(outcome.state, store::RequestState::disconnected);
    EXPECT_EQ(outcome.http_status, 200);
    EXPECT_EQ(outcome.finish_reason, std::nullopt);
  }
}

}  // namespace
}  // namespace callgate::server::turn_path_test
