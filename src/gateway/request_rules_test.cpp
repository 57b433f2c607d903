// What a model's table says of its requests and answers, from the client to the upstream and the log; and what there is to list.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gateway/gateway_client_testing.h"

namespace callgate::server::request_rules_test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kCallAnswer =
    R"({"choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[)"
    R"({"id":"c1","type":"function","function":{"name":"a","arguments":"{\"q\":\"1 < 2\"}"}},)"
    R"({"id":"c2","type":"function","function":{"name":"b","arguments":"{}"}}]},)"
    R"("finish_reason":"tool_calls"}]})";

class RequestRulesTest : public testing::Test {
 protected:
  std::string config(std::string_view top, std::string_view model) const {
    return std::string(top) + "[[upstream]]\nname = \"a\"\nurl = \"" + server_.url() +
           "\"\n[[model]]\nname = \"m\"\nupstream = \"a\"\n" + std::string(model);
  }
  void answer(std::string_view body) {
    server_.then(
        {.headers = {{"content-type", "application/json"}}, .pieces = {std::string(body)}});
  }

  net::Loop loop_;
  FakeServer server_{loop_};
};

TEST_F(RequestRulesTest, scrubbed_members_reach_neither_the_upstream_nor_the_log) {
  TestGateway gateway(
      loop_, config("scrub = [\"user\", \"metadata.id\"]\n[store]\nurl = \"sqlite:x.db\"\n", ""));
  answer(R"({"choices":[{"index":0,"message":{"content":"Hi."},"finish_reason":"stop"}]})");
  const TestAnswer got = gateway.ask(
      R"({"model":"m","user":"ann","metadata":{"id":"7","run":"2"},"messages":[{"role":"user","content":"hi"}]})");
  EXPECT_EQ(got.status, 200);
  const std::string& sent = server_.asked().at(0).body;
  EXPECT_THAT(sent, Not(HasSubstr("ann")));
  EXPECT_THAT(sent, HasSubstr(R"("metadata":{"run":"2"})"));
  const std::string& received = gateway.log().rows().back().record.received;
  EXPECT_THAT(received, HasSubstr(R"("metadata":{"run":"2"})"));
  EXPECT_THAT(received, Not(HasSubstr("ann")));
}

TEST_F(RequestRulesTest, replayed_calls_do_not_reach_the_upstream) {
  TestGateway gateway(loop_, config("", "replayed_tools = \"strip\"\n"));
  answer(R"({"choices":[{"index":0,"message":{"content":"Hi."},"finish_reason":"stop"}]})");
  (void)gateway.ask(
      R"({"model":"m","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"I look. <use_tool><name>a</name></use_tool>"},{"role":"user","content":"and?"}]})");
  EXPECT_THAT(server_.asked().at(0).body, Not(HasSubstr("use_tool")));
  EXPECT_THAT(server_.asked().at(0).body, HasSubstr(R"("content":"I look.")"));
}

TEST_F(RequestRulesTest, a_request_beyond_the_context_is_refused_before_the_call) {
  TestGateway gateway(loop_, config("", "context_length = 50\n"));
  const TestAnswer refused = gateway.ask(R"({"model":"m","messages":[{"role":"user","content":")" +
                                         std::string(2000, 'x') + "\"}]}");
  EXPECT_EQ(refused.status, 400);
  EXPECT_THAT(refused.body, HasSubstr(R"("code":"context_length_exceeded")"));
  EXPECT_TRUE(server_.asked().empty());
}

TEST_F(RequestRulesTest, a_client_gets_the_output_that_its_name_asks_for) {
  TestGateway gateway(loop_, config("",
                                    "output_by_client = { \"*Obsidian*\" = \"xml_only\" }\n"
                                    "call_delimiter = \"true\"\n"));
  const std::string body =
      R"({"model":"m","messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"a"}},{"type":"function","function":{"name":"b"}}]})";
  answer(kCallAnswer);
  EXPECT_THAT(gateway.ask(body, {{"user-agent", "obsidian/1.5"}}).body,
              HasSubstr(R"(<q>1 < 2</q>\n</use_tool>\n\n<use_tool>)"));
  answer(kCallAnswer);
  EXPECT_THAT(gateway.ask(body, {{"user-agent", "curl"}}).body, Not(HasSubstr("use_tool")));
  answer(kCallAnswer);
  EXPECT_THAT(
      gateway.ask(body, {{"user-agent", "obsidian/1.5"}, {"x-callgate-output", "tool_calls"}}).body,
      Not(HasSubstr("use_tool")));
}

TEST_F(RequestRulesTest, timing_says_why_usage_is_sent) {
  TestGateway gateway(loop_, config("", ""));
  const HeaderPairs timing{{"x-callgate-timing", "1"}};
  const std::string body = R"({"model":"m","messages":[{"role":"user","content":"hi"}]})";
  answer(R"({"choices":[{"index":0,"message":{"content":"Hi."},"finish_reason":"stop"}]})");
  EXPECT_THAT(gateway.ask(body, timing).body, HasSubstr(R"("emission_trigger":"finish")"));
  answer(
      R"({"choices":[{"index":0,"message":{"content":"Hi."},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}})");
  EXPECT_THAT(gateway.ask(body, timing).body, HasSubstr(R"("emission_trigger":"usage")"));
}

TEST_F(RequestRulesTest, conversations_and_rooms_are_listed_by_key) {
  TestGateway gateway(loop_, config("[[key]]\nname = \"ann\"\nsecret = \"ann-secret\"\n"
                                    "[[key]]\nname = \"bob\"\nsecret = \"bob-secret\"\n",
                                    ""));
  const HeaderPairs ann{{"authorization", "Bearer ann-secret"}};
  const HeaderPairs bob{{"authorization", "Bearer bob-secret"}};
  server_.then({.pieces = {"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hi.\"},"
                           "\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"}});
  EXPECT_EQ(
      gateway
          .ask(
              R"({"model":"m","messages":[{"role":"user","content":"hi"}],"callgate":{"conversation":"c1"}})",
              ann)
          .status,
      200);
  EXPECT_THAT(fetch(gateway, "GET", "/v1/conversations", ann).body,
              HasSubstr(R"({"id":"c1","object":"conversation","key":"ann",)"));
  EXPECT_EQ(fetch(gateway, "GET", "/v1/conversations", bob).body, R"({"object":"list","data":[]})");
  EXPECT_EQ(fetch(gateway, "GET", "/v1/conversations?key=ann", bob).status, 403);
  EXPECT_EQ(fetch(gateway, "GET", "/v1/conversations?limit=0", ann).status, 400);
  EXPECT_EQ(fetch(gateway, "GET", "/v1/rooms", ann).body, R"({"object":"list","data":[]})");
}

}  // namespace
}  // namespace callgate::server::request_rules_test
