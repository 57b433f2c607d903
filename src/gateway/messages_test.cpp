// Anthropic Messages in front of upstreams: what clients get, and what upstreams are sent.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gateway/gateway_testing.h"

namespace callgate::server::messages_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kMessages = "/v1/messages";

std::string chat_chunk(std::string_view delta, std::string_view reason = "null",
                       std::string_view more = {}) {
  return R"(data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":)" +
         std::string(delta) + R"(,"finish_reason":)" + std::string(reason) + std::string(more) +
         "}]}\n\n";
}
const std::string kDone = "data: [DONE]\n\n";

std::string messages_frame(std::string_view type, std::string_view members) {
  return "event: " + std::string(type) + "\ndata: {\"type\":\"" + std::string(type) + "\"" +
         std::string(members) + "}\n\n";
}

class MessagesGateway : public testing::Test {
 protected:
  std::string config(std::string_view wire, std::string_view more_upstream = {},
                     std::string_view more_model = {}) const {
    return "[[upstream]]\nname = \"a\"\nwire = \"" + std::string(wire) + "\"\nurl = \"" +
           server_.url() + "\"\n" + std::string(more_upstream) +
           "[[model]]\nname = \"m\"\nupstream = [\"a\"]\nretries = 0\n" + std::string(more_model);
  }

  net::Loop loop_;
  FakeServer server_{loop_};
};

TEST_F(MessagesGateway, names_the_request_in_errors) {
  TestGateway gateway(loop_, config("openai_chat"));
  const TestAnswer answer =
      gateway.ask(R"({"model":"none","max_tokens":9,"messages":[{"role":"user","content":"hi"}]})",
                  {}, kMessages);
  EXPECT_EQ(answer.status, 404);
  ASSERT_NE(answer.header("request-id"), "");
  EXPECT_THAT(answer.body, HasSubstr(R"("request_id":")" + answer.header("request-id") + '"'));
}

TEST_F(MessagesGateway, streams_a_turn_of_a_chat_upstream) {
  TestGateway gateway(loop_, config("openai_chat"));
  server_.then(
      {.pieces = {
           chat_chunk(R"({"role":"assistant","content":"Hi"})"),
           chat_chunk(
               R"({"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"f","arguments":"{\"q\":1}"}}]})"),
           chat_chunk("{}", "\"tool_calls\"") + kDone}});
  const TestAnswer answer = gateway.ask(
      R"({"model":"m","max_tokens":9,"stream":true,"system":"s","messages":[{"role":"user","content":"hi"}],"tools":[{"name":"f","input_schema":{"type":"object"},"cache_control":{"type":"ephemeral"}}],"thinking":{"type":"adaptive"}})",
      {{"anthropic-version", "2023-06-01"}, {"anthropic-beta", "unheard-of-2099"}}, kMessages);
  EXPECT_EQ(answer.status, 200);
  EXPECT_NE(answer.header("request-id"), "");
  EXPECT_EQ(answer.header("x-callgate-dropped"), "thinking, anthropic-beta");
  EXPECT_THAT(answer.body, testing::StartsWith("event: message_start\n"));
  EXPECT_THAT(answer.body, HasSubstr(R"("delta":{"type":"text_delta","text":"Hi"})"));
  EXPECT_THAT(
      answer.body,
      HasSubstr(R"("content_block":{"type":"tool_use","id":"call_1","name":"f","input":{}})"));
  EXPECT_THAT(answer.body, HasSubstr(R"("delta":{"stop_reason":"tool_use","stop_sequence":null})"));
  EXPECT_THAT(answer.body,
              testing::EndsWith("event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"));
  EXPECT_THAT(
      server_.asked().front().body,
      AllOf(HasSubstr(
                R"("messages":[{"role":"system","content":"s"},{"role":"user","content":"hi"}])"),
            Not(HasSubstr("cache_control")), Not(HasSubstr("thinking"))));
  EXPECT_EQ(gateway.log().rows().back().record.protocol, "anthropic_messages");
}

TEST_F(MessagesGateway, moves_images_out_of_results_for_a_chat_upstream) {
  TestGateway gateway(loop_, config("openai_chat"));
  server_.then({.pieces = {chat_chunk(R"({"content":"x"})", "\"stop\"") + kDone}});
  gateway.ask(
      R"({"model":"m","max_tokens":9,"stream":true,"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","is_error":true,"content":[{"type":"text","text":"a"},{"type":"image","source":{"type":"url","url":"https://x"}}]}]}]})",
      {}, kMessages);
  EXPECT_THAT(
      server_.asked().front().body,
      HasSubstr(
          R"({"role":"tool","content":"a","tool_call_id":"t"},{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://x"}}]}])"));
}

TEST_F(MessagesGateway, names_the_stop_sequence_that_an_upstream_names) {
  TestGateway gateway(loop_, config("openai_chat"));
  server_.then({.pieces = {chat_chunk(R"({"content":"x"})", "\"stop\"", R"(,"stop_reason":"END")") +
                           kDone}});
  EXPECT_THAT(
      gateway
          .ask(
              R"({"model":"m","max_tokens":9,"stream":true,"stop_sequences":["END"],"messages":[{"role":"user","content":"hi"}]})",
              {}, kMessages)
          .body,
      HasSubstr(R"("stop_reason":"stop_sequence","stop_sequence":"END")"));
}

TEST_F(MessagesGateway, refuses_safeguards_that_the_upstream_cannot_honour) {
  TestGateway gateway(loop_, config("openai_chat"));
  const TestAnswer answer = gateway.ask(
      R"({"model":"m","max_tokens":9,"safeguards":{},"messages":[{"role":"user","content":"hi"}]})",
      {}, kMessages);
  EXPECT_EQ(answer.status, 400);
  EXPECT_THAT(
      answer.body,
      HasSubstr(
          R"({"type":"error","error":{"type":"invalid_request_error","message":"safeguards: )"));
  EXPECT_THAT(answer.body, HasSubstr(R"("request_id":"req_)"));
}

TEST_F(MessagesGateway, answers_errors_in_its_own_words) {
  TestGateway gateway(loop_, config("openai_chat"));
  const TestAnswer unknown = gateway.ask(
      R"({"model":"x","max_tokens":9,"messages":[{"role":"user","content":"hi"}]})", {}, kMessages);
  EXPECT_EQ(unknown.status, 404);
  EXPECT_THAT(unknown.body, HasSubstr(R"("type":"not_found_error")"));
  server_.then(
      {.status = 429,
       .headers = {{"content-type", "application/json"}, {"retry-after", "7"}},
       .pieces = {
           R"({"error":{"message":"slow down","type":"tokens","code":"rate_limit_exceeded"}})"}});
  const TestAnswer limited = gateway.ask(
      R"({"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}]})", {}, kMessages);
  EXPECT_EQ(limited.status, 429);
  EXPECT_EQ(limited.header("retry-after"), "7");
  EXPECT_THAT(limited.body, HasSubstr(R"("type":"rate_limit_error","message":"slow down)"));
  server_.then({.pieces = {chat_chunk(R"({"content":"x"})")}, .breaks_off = true});
  EXPECT_THAT(
      gateway
          .ask(
              R"({"model":"m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"hi"}]})",
              {}, kMessages)
          .body,
      AllOf(HasSubstr("event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"api_error\""),
            Not(HasSubstr("message_stop"))));
}

TEST_F(MessagesGateway, tells_a_client_without_a_key_not_to_retry) {
  TestGateway gateway(
      loop_, "[[key]]\nname = \"k\"\nsecret = \"sk-0123456789abcdef\"\n" + config("openai_chat"));
  const TestAnswer answer = gateway.ask("{}", {{"x-api-key", "wrong"}}, kMessages);
  EXPECT_EQ(answer.status, 401);
  EXPECT_EQ(answer.header("x-should-retry"), "false");
  EXPECT_THAT(answer.body, HasSubstr(R"("type":"authentication_error")"));
}

// Unknown fields everywhere. Only the name of the model changes, and it has the same name here.
constexpr std::string_view kStrange =
    R"({"future":[1, 2.50],"model":"m","max_tokens":9,"system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral","ttl":"1h"},"x":1}],"messages":[{"role":"user","content":[{"type":"text","text":"é\u00e9","citations":null},{"type":"hologram","data":{"a":1}}],"y":2},{"role":"assistant","content":[{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"q":"a"}},{"type":"tool_use","id":"toolu_1","name":"f","input":{"b":1,"a":1e5},"caller":{"type":"direct"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"1","z":3}]}],"tools":[{"name":"f","input_schema":{"type":"object","$schema":"s"},"cache_control":{"type":"ephemeral"},"defer_loading":false,"new":true},{"type":"web_search_20990101","name":"web_search","max_uses":3}],"tool_choice":{"type":"auto","why":"because"},"thinking":{"type":"adaptive","display":"updates"},"context_management":{"edits":[]},"safeguards":{"a":1},"metadata":{"user_id":"u","org":"o"},"stream":true})";

TEST_F(MessagesGateway, sends_what_it_does_not_know_to_an_upstream_that_speaks_the_same) {
  TestGateway gateway(loop_, config("anthropic_messages"));
  server_.then({.pieces = {messages_frame("message_stop", "")}});
  gateway.ask(kStrange, {}, kMessages);
  ASSERT_FALSE(server_.asked().empty());
  EXPECT_EQ(server_.asked().front().path, "/messages");
  EXPECT_EQ(server_.asked().front().body, kStrange);
}

TEST_F(MessagesGateway, passes_what_it_does_not_know_of_an_answer) {
  TestGateway gateway(loop_, config("anthropic_messages"));
  const std::string blocks =
      messages_frame("content_block_start",
                     R"(,"index":0,"content_block":{"type":"text","text":"","citations":[]})") +
      messages_frame("content_block_delta",
                     R"(,"index":0,"delta":{"type":"text_delta","text":"a"})") +
      messages_frame(
          "content_block_delta",
          R"(,"index":0,"delta":{"type":"citations_delta","citation":{"type":"char_location","n":1}})") +
      messages_frame("content_block_stop", R"(,"index":0)") +
      messages_frame(
          "content_block_start",
          R"(,"index":1,"content_block":{"type":"server_tool_use","id":"s1","name":"web_search","input":{}})") +
      messages_frame(
          "content_block_delta",
          R"(,"index":1,"delta":{"type":"input_json_delta","partial_json":"{\"q\":1}"})") +
      messages_frame("content_block_stop", R"(,"index":1)") +
      messages_frame("content_block_start",
                     R"(,"index":2,"content_block":{"type":"hologram","depth":{"x":[1]}})") +
      messages_frame("content_block_stop", R"(,"index":2)") +
      messages_frame("content_block_start",
                     R"(,"index":3,"content_block":{"type":"text","text":""})") +
      messages_frame("content_block_delta",
                     R"(,"index":3,"delta":{"type":"text_delta","text":"b"})") +
      messages_frame("content_block_stop", R"(,"index":3)");
  server_.then(
      {.pieces = {
           messages_frame(
               "message_start",
               R"(,"message":{"id":"msg_9","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":1,"inference_geo":"eu"},"container":{"id":"c"}})"),
           blocks, messages_frame("news", R"(,"n":1)"),
           messages_frame(
               "message_delta",
               R"(,"delta":{"stop_reason":"pause_turn","stop_sequence":null,"container":{"id":"c"}},"usage":{"output_tokens":4,"server_tool_use":{"web_search_requests":1}},"context_management":{"applied_edits":[]})") +
               messages_frame("message_stop", "")}});
  const TestAnswer answer = gateway.ask(
      R"({"model":"m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"hi"}]})",
      {}, kMessages);
  EXPECT_EQ(answer.header("x-callgate-dropped"), "");
  EXPECT_THAT(answer.body, HasSubstr(blocks));
  EXPECT_THAT(answer.body, HasSubstr(R"("inference_geo":"eu"},"container":{"id":"c"}}})"));
  EXPECT_THAT(answer.body, HasSubstr(messages_frame("news", R"(,"n":1)")));
  EXPECT_THAT(
      answer.body,
      HasSubstr(
          R"("delta":{"stop_reason":"pause_turn","stop_sequence":null,"container":{"id":"c"}},"usage":{"input_tokens":3,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":4,"server_tool_use":{"web_search_requests":1}},"context_management":{"applied_edits":[]}})"));
}

TEST_F(MessagesGateway, passes_a_whole_answer_of_the_same_format) {
  TestGateway gateway(loop_, config("anthropic_messages"));
  const std::string content =
      R"("content":[{"type":"text","text":"a","citations":[{"n":1}]},{"type":"server_tool_use","id":"s1","name":"web_search","input":{"q":1}},{"type":"text","text":"b"},{"type":"tool_use","id":"t1","name":"f","caller":{"type":"direct"},"input":{"a":1}}],"stop_reason":"tool_use","stop_sequence":null)";
  server_.then(
      {.headers = {{"content-type", "application/json"}},
       .pieces = {R"({"id":"msg_9","type":"message","role":"assistant","model":"m",)" + content +
                  R"(,"usage":{"input_tokens":3,"output_tokens":4},"container":{"id":"c"}})"}});
  const TestAnswer answer = gateway.ask(
      R"({"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}]})", {}, kMessages);
  EXPECT_THAT(answer.body, HasSubstr(content));
  EXPECT_THAT(answer.body, HasSubstr(R"(,"container":{"id":"c"}})"));
}

TEST_F(MessagesGateway, passes_on_the_betas_that_an_upstream_may_have) {
  TestGateway gateway(loop_, config("anthropic_messages", "betas = [\"context-*\"]\n"));
  server_.then({.pieces = {messages_frame("message_stop", "")}});
  server_.then(
      {.pieces = {
           messages_frame("message_start", R"(,"message":{"usage":{"input_tokens":1}})") +
           messages_frame("content_block_start",
                          R"(,"index":0,"content_block":{"type":"text","text":"a"})") +
           messages_frame("message_delta",
                          R"(,"delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1})") +
           messages_frame("message_stop", "")}});
  const std::string body =
      R"({"model":"m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":"hi"}]})";
  gateway.ask(body, {{"anthropic-beta", "context-1m-2025, other-2026"}}, kMessages);
  const TestAnswer answer =
      gateway.ask(body, {{"anthropic-beta", "context-1m-2025, other-2026"}}, kMessages);
  EXPECT_EQ(answer.header("x-callgate-dropped"), "anthropic-beta other-2026");
}

TEST_F(MessagesGateway, counts_tokens_by_asking_or_by_guessing) {
  const std::string body =
      R"({"model":"m","system":"be brief","messages":[{"role":"user","content":"hi"}],"tools":[{"name":"f","input_schema":{}}]})";
  {
    TestGateway gateway(loop_, config("anthropic_messages"));
    server_.then(
        {.headers = {{"content-type", "application/json"}}, .pieces = {R"({"input_tokens":77})"}});
    const TestAnswer asked = gateway.ask(body, {}, "/v1/messages/count_tokens");
    EXPECT_EQ(asked.body, R"({"input_tokens":77})");
    EXPECT_EQ(asked.header("x-callgate-usage"), "");
    EXPECT_EQ(server_.asked().back().path, "/messages/count_tokens");
    EXPECT_EQ(server_.asked().back().body, body);
    // It cannot count after all.
    const TestAnswer guessed = gateway.ask(body, {}, "/v1/messages/count_tokens");
    EXPECT_EQ(guessed.status, 200);
    EXPECT_EQ(guessed.header("x-callgate-usage"), "estimated");
  }
  TestGateway gateway(loop_, config("openai_chat"));
  const TestAnswer guessed = gateway.ask(body, {}, "/v1/messages/count_tokens");
  EXPECT_EQ(guessed.status, 200);
  EXPECT_EQ(guessed.header("x-callgate-usage"), "estimated");
  EXPECT_THAT(guessed.body, testing::MatchesRegex(R"(\{"input_tokens":[1-9][0-9]*\})"));
}

TEST_F(MessagesGateway, runs_a_loop_and_keeps_what_the_client_wrote) {
  TestGateway gateway(loop_, config("anthropic_messages", {}, "loop = true\n") +
                                 "[[tool]]\nname = \"look\"\nkind = \"http\"\nurl = \"" +
                                 server_.url() + "/\"\naddresses = [\"127.0.0.0/8\"]\n");
  const auto turn = [](std::string_view block, std::string_view input, std::string_view reason) {
    return messages_frame("message_start",
                          R"(,"message":{"usage":{"input_tokens":3,"output_tokens":1}})") +
           messages_frame("content_block_start",
                          R"(,"index":0,"content_block":)" + std::string(block)) +
           messages_frame("content_block_delta", R"(,"index":0,"delta":)" + std::string(input)) +
           messages_frame("content_block_stop", R"(,"index":0)") +
           messages_frame("message_delta", R"(,"delta":{"stop_reason":")" + std::string(reason) +
                                               R"("},"usage":{"output_tokens":4})") +
           messages_frame("message_stop", "");
  };
  server_.then(
      {.pieces = {turn(R"({"type":"tool_use","id":"toolu_1","name":"look","input":{}})",
                       R"({"type":"input_json_delta","partial_json":"{}"})", "tool_use")}});
  server_.then({.headers = {{"content-type", "text/plain"}}, .pieces = {"seen"}});
  server_.then({.pieces = {turn(R"({"type":"text","text":""})",
                                R"({"type":"text_delta","text":"done"})", "end_turn")}});
  const TestAnswer answer = gateway.ask(
      R"({"model":"m","max_tokens":9,"stream":true,"callgate":{"show_tool_calls":true},"messages":[{"role":"user","content":[{"type":"text","text":"hi","cache_control":{"type":"ephemeral"},"x":1}]}]})",
      {}, kMessages);
  EXPECT_THAT(answer.body, HasSubstr("event: ping\ndata: {\"type\":\"ping\",\"callgate\":{"));
  EXPECT_THAT(answer.body, HasSubstr(R"("text":"done")"));
  EXPECT_THAT(answer.body, HasSubstr(R"("stop_reason":"end_turn")"));
  ASSERT_EQ(server_.asked().size(), 3U);
  EXPECT_THAT(
      server_.asked().back().body,
      AllOf(
          HasSubstr(
              R"({"role":"user","content":[{"type":"text","text":"hi","cache_control":{"type":"ephemeral"},"x":1}]},{"role":"assistant","content":[)"),
          HasSubstr(R"("tool_use_id":"toolu_1")"), Not(HasSubstr("callgate"))));
}

}  // namespace
}  // namespace callgate::server::messages_test
