#include "tool/mcp_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tool/mcp_message.h"

namespace callgate::tool::mcp_server_test {
namespace {

using testing::HasSubstr;
using Headers = std::map<std::string, std::string, std::less<>>;

const std::vector<ToolSpec> kTools = {
    {.name = "lookup", .description = "Finds", .parameters = {R"({"type":"object"})"}},
    {.name = "now"},
    {.name = "sql",
     .parameters = {R"({"properties":{"region":{"type":"string","x-mcp-header":"Region"}}})"}}};

McpAction ask(std::string_view body, const Headers& headers = {}, std::string_view method = "POST",
              McpServerOptions options = {}) {
  McpHttpRequest request{.method = method, .body = body};
  request.header = [&](std::string_view name) -> std::optional<std::string_view> {
    const auto found = headers.find(name);
    return found == headers.end() ? std::nullopt : std::optional<std::string_view>(found->second);
  };
  return McpServer(std::move(options)).accept(request, kTools);
}

McpReply reply(const McpAction& action) {
  const auto* found = std::get_if<McpReply>(&action);
  return found != nullptr ? *found : McpReply{.status = 0};
}

// A request of the stateless revision and its headers.
std::string stateless(std::string_view method, std::string_view members = "") {
  return R"({"jsonrpc":"2.0","id":1,"method":")" + std::string(method) + R"(","params":{)" +
         std::string(members) + (members.empty() ? "" : ",") +
         R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}})";
}

Headers headers_of(const std::string& method, const std::string& name = "") {
  Headers headers{{"mcp-protocol-version", "2026-07-28"}, {"mcp-method", method}};
  if (!name.empty()) headers["mcp-name"] = name;
  return headers;
}

TEST(McpServer, shakes_hands_with_clients_of_sessions) {
  const auto hello = [](const char* version) {
    return reply(
               ask(R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":")" +
                   std::string(version) + R"(","capabilities":{}}})"))
        .body;
  };
  EXPECT_THAT(hello("2025-11-25"), HasSubstr(R"("id":0,"result":{"protocolVersion":"2025-11-25")"));
  EXPECT_THAT(hello("2025-06-18"), HasSubstr(R"("protocolVersion":"2025-06-18")"));
  EXPECT_THAT(hello("2031-01-01"), HasSubstr(R"("protocolVersion":"2025-11-25")"));
  EXPECT_EQ(reply(ask(R"({"jsonrpc":"2.0","method":"notifications/initialized"})")).status, 202);
  EXPECT_EQ(reply(ask(R"({"jsonrpc":"2.0","id":1,"method":"ping"})")).body,
            R"({"jsonrpc":"2.0","id":1,"result":{}})");
}

TEST(McpServer, tells_stateless_clients_what_it_speaks) {
  const std::string body =
      reply(ask(stateless("server/discover"), headers_of("server/discover"))).body;
  EXPECT_THAT(body, HasSubstr(R"("supportedVersions":["2026-07-28","2025-11-25")"));
  EXPECT_THAT(body, HasSubstr(R"("resultType":"complete")"));
}

TEST(McpServer, lists_tools_page_by_page) {
  const McpServerOptions small{.page = 2};
  std::string body =
      reply(ask(R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})", {}, "POST", small)).body;
  EXPECT_THAT(
      body,
      HasSubstr(R"({"name":"lookup","description":"Finds","inputSchema":{"type":"object"}})"));
  EXPECT_THAT(body,
              HasSubstr(R"({"name":"now","inputSchema":{"type":"object"}}],"nextCursor":"2")"));
  body = reply(ask(R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"2"}})", {},
                   "POST", small))
             .body;
  EXPECT_THAT(body, HasSubstr(R"("tools":[{"name":"sql")"));
  EXPECT_THAT(body, testing::Not(HasSubstr("nextCursor")));
  EXPECT_THAT(
      reply(ask(R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"}})")).body,
      HasSubstr("-32602"));
  body = reply(ask(stateless("tools/list"), headers_of("tools/list"))).body;
  EXPECT_THAT(body, HasSubstr(R"("ttlMs":5000,"cacheScope":"private")"));
}

TEST(McpServer, hands_out_runs_and_writes_their_results) {
  const McpAction action = ask(
      R"({"jsonrpc":"2.0","id":"c1","method":"tools/call","params":{"name":"lookup","arguments":{"id":7},"_meta":{"progressToken":"t"}}})");
  const auto* run = std::get_if<McpRun>(&action);
  ASSERT_NE(run, nullptr);
  EXPECT_EQ(run->tool, "lookup");
  EXPECT_EQ(run->arguments, R"({"id":7})");
  const McpServer server;
  ToolResult result;
  result.text = "found \"it\"";
  EXPECT_EQ(
      server.answer(*run, result).body,
      R"({"jsonrpc":"2.0","id":"c1","result":{"content":[{"type":"text","text":"found \"it\""}],"isError":false}})");
  result.content = R"([{"type":"image","data":"aGk=","mimeType":"image/png"}])";
  result.structured = R"({"n":1})";
  EXPECT_THAT(server.answer(*run, result).body,
              HasSubstr(R"({"content":[{"type":"image","data":"aGk=","mimeType":"image/png"}],)"
                        R"("structuredContent":{"n":1},"isError":false})"));
  EXPECT_EQ(
      server.progress_frame(*run, R"({"progressToken":9,"progress":1,"total":2,"x":3})"),
      "event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":"
      "{\"progressToken\":\"t\",\"progress\":1,\"total\":2}}\n\n");
  EXPECT_EQ(server.progress_frame(*run, "nonsense"), "");
  EXPECT_THAT(server.last_frame(*run, error_result("no")), HasSubstr(R"("isError":true)"));
}

TEST(McpServer, wants_headers_that_agree_with_the_body) {
  const std::string body = stateless("tools/call", R"("name":"lookup","arguments":{})");
  const McpAction action = ask(body, headers_of("tools/call", "lookup"));
  ASSERT_TRUE(std::holds_alternative<McpRun>(action));
  EXPECT_THAT(McpServer().answer(std::get<McpRun>(action), {}).body,
              HasSubstr(R"("resultType":"complete")"));
  EXPECT_TRUE(
      std::holds_alternative<McpRun>(ask(body, headers_of("tools/call", "=?base64?bG9va3Vw?="))));
  for (const Headers& wrong :
       {Headers(), headers_of("tools/list", "lookup"), headers_of("tools/call"),
        headers_of("tools/call", "now"), headers_of("tools/call", "=?base64?*?=")}) {
    const McpReply refused = reply(ask(body, wrong));
    EXPECT_EQ(refused.status, 400);
    EXPECT_THAT(refused.body, HasSubstr("-32020"));
  }
  const std::string sql = stateless("tools/call", R"("name":"sql","arguments":{"region":"ü"})");
  Headers headers = headers_of("tools/call", "sql");
  EXPECT_THAT(reply(ask(sql, headers)).body, HasSubstr("Mcp-Param-Region"));
  headers["Mcp-Param-Region"] = "=?base64?w7w=?=";
  EXPECT_TRUE(std::holds_alternative<McpRun>(ask(sql, headers)));
}

TEST(McpServer, refuses_what_it_does_not_understand) {
  struct Row {
    const char* body;
    int status;
    const char* code;
  };
  const Row rows[] = {
      {"{", 400, "-32700"},
      {"[]", 400, "-32600"},
      {R"({"jsonrpc":"2.0","id":null,"method":"ping"})", 400, "-32600"},
      {R"({"jsonrpc":"2.0","id":1,"method":"resources/list"})", 200, "-32601"},
      {R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"nope"}})", 200, "-32602"},
      {R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"now","arguments":[]}})",
       200, "-32602"},
  };
  for (const Row& row : rows) {
    const McpReply refused = reply(ask(row.body));
    EXPECT_EQ(refused.status, row.status) << row.body;
    EXPECT_THAT(refused.body, HasSubstr(row.code)) << row.body;
  }
  EXPECT_EQ(reply(ask("", {}, "GET")).status, 405);
  EXPECT_EQ(reply(ask("", {}, "DELETE")).status, 405);
  EXPECT_EQ(reply(ask("{}", {{"accept", "image/png"}})).status, 406);
  const McpReply missing = reply(ask(stateless("ping"), headers_of("ping")));
  EXPECT_EQ(missing.status, 404);
  EXPECT_THAT(missing.body, HasSubstr("-32601"));
  const char* list = R"({"jsonrpc":"2.0","id":1,"method":"tools/list"})";
  EXPECT_THAT(
      reply(ask(list, {{"mcp-protocol-version", "1900-01-01"}})).body,
      HasSubstr(
          R"("code":-32022,"message":"Unsupported protocol version","data":{"supported":["2026)"));
}

TEST(McpServer, keeps_a_stream_for_changes) {
  const McpAction action =
      ask(stateless("subscriptions/listen", R"("notifications":{"toolsListChanged":true})"),
          headers_of("subscriptions/listen"));
  const auto* listen = std::get_if<McpListen>(&action);
  ASSERT_NE(listen, nullptr);
  EXPECT_THAT(listen->first, HasSubstr("notifications/subscriptions/acknowledged"));
  EXPECT_THAT(listen->first, HasSubstr(R"("io.modelcontextprotocol/subscriptionId":1)"));
  EXPECT_THAT(McpServer().list_changed_frame(*listen),
              HasSubstr("notifications/tools/list_changed"));
}

}  // namespace
}  // namespace callgate::tool::mcp_server_test
