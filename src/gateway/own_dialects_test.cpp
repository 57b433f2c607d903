// Dialects that the configuration defines, from the model's text to the client's calls.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gateway/gateway_testing.h"
#include "json/writer.h"

namespace callgate::server::own_dialects_test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kWritten = R"(<|do|>{"tool": "find", "with": {"q": "a"}}<|done|>)";

class OwnDialects : public testing::Test {
 protected:
  std::string config(std::string_view model, std::string_view open = "<|do|>") const {
    return "[[upstream]]\nname = \"a\"\nurl = \"" + server_.url() +
           "\"\n[[dialect]]\nname = \"mine\"\nmodels = [\"acme-*\"]\ncall = \"" +
           std::string(open) +
           "{json}<|done|>\"\nspecial_tokens = true\nname_member = \"tool\"\n"
           "arguments_member = \"with\"\n[[model]]\nupstream = \"a\"\n" +
           std::string(model);
  }
  // The model writes the call, a few bytes at a time.
  TestAnswer ask(TestGateway& gateway, std::string_view model, const HeaderPairs& headers = {}) {
    FakeServer::Reply reply;
    for (std::size_t at = 0; at < kWritten.size(); at += 5) {
      std::string piece = R"(data: {"choices":[{"index":0,"delta":{"content":)";
      json::append_string(piece, kWritten.substr(at, 5));
      reply.pieces.push_back(piece + "}}]}\n\n");
    }
    reply.pieces.push_back(
        "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":"
        "\"stop\"}]}\n\ndata: [DONE]\n\n");
    server_.then(std::move(reply));
    return gateway.ask(
        R"({"model":")" + std::string(model) +
            R"(","messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function",)"
            R"("function":{"name":"find","parameters":{"type":"object"}}}]})",
        headers);
  }
  static void expect_call(const TestAnswer& answer) {
    EXPECT_THAT(answer.body, HasSubstr(R"("name":"find","arguments":"{\"q\": \"a\"}")"));
    EXPECT_THAT(answer.body, HasSubstr(R"("finish_reason":"tool_calls")"));
    EXPECT_EQ(answer.header("x-callgate-dialect"), "mine");
  }

  net::Loop loop_;
  FakeServer server_{loop_};
};

TEST_F(OwnDialects, are_chosen_by_name_by_pattern_and_by_auto) {
  TestGateway named(loop_, config("name = \"m\"\ndialect = \"mine\"\n"));
  expect_call(ask(named, "m"));
  EXPECT_EQ(named.log().rows().back().outcome.dialect, "");
  TestGateway matched(loop_, config("name = \"acme-qwen3-coder\"\n"));
  expect_call(ask(matched, "acme-qwen3-coder"));
  TestGateway found(loop_, config("name = \"m\"\n"));
  expect_call(ask(found, "m"));
  EXPECT_EQ(found.log().rows().back().outcome.dialect, "mine");
}

TEST_F(OwnDialects, are_read_by_auto_where_a_prompt_teaches_another) {
  TestGateway gateway(loop_, config("name = \"acme-1\"\ntools = \"prompt\"\n"));
  expect_call(ask(gateway, "acme-1"));
  EXPECT_THAT(server_.asked().back().body, HasSubstr("<tool_call>"));
}

TEST_F(OwnDialects, are_chosen_by_header) {
  TestGateway gateway(loop_, config("name = \"m\"\ndialect = \"hermes\"\n"));
  EXPECT_THAT(ask(gateway, "m").body, Not(HasSubstr("tool_calls\"")));
  expect_call(ask(gateway, "m", {{"x-callgate-dialect", "mine"}}));
  const TestAnswer unknown = ask(gateway, "m", {{"x-callgate-dialect", "yours"}});
  EXPECT_EQ(unknown.status, 400);
  EXPECT_THAT(unknown.body, HasSubstr("there is no dialect \\\"yours\\\""));
}

TEST_F(OwnDialects, are_replaced_by_a_reload) {
  const std::string model = "name = \"m\"\ndialect = \"mine\"\n";
  TestGateway gateway(loop_, config(model, "<|other|>"));
  EXPECT_THAT(ask(gateway, "m").body, Not(HasSubstr("tool_calls\"")));
  gateway.apply(TestGateway::parse(config(model)));
  expect_call(ask(gateway, "m"));
}

}  // namespace
}  // namespace callgate::server::own_dialects_test
