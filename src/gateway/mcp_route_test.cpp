#include "gateway/mcp_route.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gateway/gateway_client_testing.h"

namespace callgate::server::mcp_route_test {
namespace {

using testing::HasSubstr;
using testing::Not;

class McpRouteTest : public testing::Test {
 protected:
  std::string config(std::string_view more = {}) const {
    const std::string http =
        "kind = \"http\"\naddresses = [\"127.0.0.0/8\"]\nurl = \"" + tool_server_.url() + "/\"\n";
    return "mcp = true\n" + std::string(more) + "[[tool]]\nname = \"look\"\n" + http +
           "[[tool]]\nname = \"remove\"\napproval = true\n" + http + "[[tool]]\nname = \"pay\"\n" +
           http + "parameters = '{\"type\":\"object\",\"required\":[\"sum\"]}'\n";
  }
  static TestAnswer post(TestGateway& gateway, std::string_view body, HeaderPairs headers = {}) {
    headers.emplace_back("content-type", "application/json");
    headers.emplace_back("accept", "application/json, text/event-stream");
    return fetch(gateway, "POST", "/mcp", headers, body);
  }
  static std::string call(std::string_view tool, std::string_view more = {}) {
    return R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":")" +
           std::string(tool) + R"(","arguments":{})" + std::string(more) + "}}";
  }
  static FakeServer::Reply reply(std::string text) {
    return {.headers = {{"content-type", "text/plain"}}, .pieces = {std::move(text)}};
  }

  net::Loop loop_;
  FakeServer tool_server_{loop_};
};

constexpr std::string_view kList = R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})";

TEST_F(McpRouteTest, is_only_there_when_it_is_wanted) {
  TestGateway none(loop_, "mcp = true\n");
  const TestAnswer answer = post(none, kList);
  EXPECT_EQ(answer.status, 404);
  EXPECT_THAT(answer.body, HasSubstr("there is no MCP server here; mcp = true and a [[tool]]"));
  EXPECT_THAT(answer.body, HasSubstr("unknown_url"));
  TestGateway off(loop_, config().substr(std::string("mcp = true\n").size()));
  EXPECT_EQ(post(off, kList).status, 404);
  TestGateway on(loop_, config());
  EXPECT_EQ(post(on, kList).status, 200);
}

TEST_F(McpRouteTest, refuses_foreign_pages) {
  TestGateway gateway(loop_, config());
  const TestAnswer answer = post(gateway, kList, {{"origin", "https://evil.example"}});
  EXPECT_EQ(answer.status, 403);
  EXPECT_THAT(answer.body, HasSubstr("may not call this gateway"));
  EXPECT_EQ(post(gateway, kList, {{"origin", "http://localhost:3000"}}).status, 200);
}

TEST_F(McpRouteTest, shows_the_tools_that_a_key_may_use_without_approval) {
  TestGateway gateway(
      loop_, config() +
                 "[[key]]\nname = \"ann\"\nsecret = \"ann-secret\"\n"
                 "[[key]]\nname = \"bob\"\nsecret = \"bob-secret\"\ndeny_tools = [\"l*\"]\n");
  EXPECT_EQ(post(gateway, kList).status, 401);
  const std::string all = post(gateway, kList, {{"x-api-key", "ann-secret"}}).body;
  EXPECT_THAT(all, HasSubstr("\"look\""));
  EXPECT_THAT(all, HasSubstr("\"pay\""));
  EXPECT_THAT(all, Not(HasSubstr("\"remove\""))) << "nobody could be asked";
  const std::string few = post(gateway, kList, {{"x-api-key", "bob-secret"}}).body;
  EXPECT_THAT(few, Not(HasSubstr("\"look\"")));
  EXPECT_THAT(few, HasSubstr("\"pay\""));
}

TEST_F(McpRouteTest, runs_a_tool_and_counts_it) {
  TestGateway gateway(loop_, config());
  tool_server_.then(reply("found it"));
  const TestAnswer answer = post(gateway, call("look"));
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.header("content-type"), "application/json");
  EXPECT_THAT(answer.body, HasSubstr(R"("text":"found it")"));
  tool_server_.then({.status = 500, .headers = {}, .pieces = {"broken"}});
  EXPECT_THAT(post(gateway, call("look")).body, HasSubstr(R"("isError":true)"));
  const std::string metrics = gateway.world().metrics.render();
  EXPECT_THAT(metrics, HasSubstr("callgate_tool_runs_total{tool=\"look\",outcome=\"ok\"} 1\n"));
  EXPECT_THAT(metrics, HasSubstr("callgate_tool_runs_total{tool=\"look\",outcome=\"error\"} 1\n"));
}

TEST_F(McpRouteTest, says_what_is_wrong_with_arguments_without_running_anything) {
  TestGateway gateway(loop_, config());
  EXPECT_THAT(post(gateway, call("pay")).body, HasSubstr("sum"));
  EXPECT_THAT(post(gateway, call("pay", R"(,"_meta":{"progressToken":7})")).body, HasSubstr("sum"));
  EXPECT_EQ(tool_server_.asked().size(), 0u);
}

TEST_F(McpRouteTest, streams_to_a_client_that_wants_progress) {
  TestGateway gateway(loop_, config());
  tool_server_.then(reply("found it"));
  const TestAnswer answer = post(gateway, call("look", R"(,"_meta":{"progressToken":7})"));
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.header("content-type"), "text/event-stream");
  EXPECT_THAT(answer.body, HasSubstr("data: {"));
  EXPECT_THAT(answer.body, HasSubstr("found it"));
  EXPECT_THAT(gateway.world().metrics.render(),
              HasSubstr("callgate_tool_runs_total{tool=\"look\",outcome=\"ok\"} 1\n"));
}

// The stream looks at its tools once in a second; a client that leaves is noticed at once.
TEST_F(McpRouteTest, ends_a_stream_of_changes_when_its_client_leaves) {
  TestGateway gateway(loop_, config());
  net::Signal ended(loop_);
  net::HttpServer server(loop_, {}, [&](net::Exchange& exchange) -> net::Task<> {
    co_await gateway.gateway().answer(exchange);
    ended.notify();
  });
  const auto bound = server.listen({.host = "127.0.0.1"});
  ASSERT_TRUE(bound);
  const net::Target target{.host = "127.0.0.1", .port = bound->port};
  std::string first;
  bool noticed = false;
  const auto client = [&]() -> net::Task<> {
    {
      net::ClientExchange exchange(gateway.client(), target);
      const net::ClientRequest asked = TestGateway::request(
          R"({"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},)"
          R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}})",
          {{"accept", "application/json, text/event-stream"},
           {"mcp-protocol-version", "2026-07-28"},
           {"mcp-method", "subscriptions/listen"}},
          "/mcp");
      const auto sent = co_await exchange.send(asked);
      EXPECT_TRUE(sent);
      if (!sent) co_return;
      EXPECT_EQ(exchange.status(), 200);
      auto piece = co_await exchange.read();
      if (piece) first = *piece;
      exchange.cancel();
    }
    noticed = co_await ended.wait(net::Millis(900));
  };
  gateway.run(client());
  EXPECT_THAT(first, HasSubstr("notifications/subscriptions/acknowledged"));
  EXPECT_TRUE(noticed);
}

}  // namespace
}  // namespace callgate::server::mcp_route_test
