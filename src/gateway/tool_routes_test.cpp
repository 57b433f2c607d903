// The tools that the gateway runs, as an operator sees them over HTTP.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gateway/gateway_client_testing.h"

namespace callgate::server::tool_routes_test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kThreeTools =
    "[[tool]]\nname = \"clock\"\nkind = \"builtin\"\n"
    "[[tool]]\nname = \"inside\"\nkind = \"http\"\nurl = \"http://127.0.0.1:9/\"\n"
    "parameters = '{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}}}'\n"
    "[[tool]]\nname = \"gone\"\nkind = \"mcp\"\ncommand = [\"false\"]\n";

TEST(ToolRoutes, show_tools_and_servers_and_run_one_as_a_test) {
  net::Loop loop;
  TestGateway gateway(loop, std::string(kThreeTools));
  const std::string before = fetch(gateway, "GET", "/v1/tools").body;
  EXPECT_THAT(before, HasSubstr(R"({"name":"clock","object":"tool","kind":"builtin",)"
                                R"("source":"clock","state":"ready","last_error":null,)"));
  EXPECT_THAT(before, HasSubstr(R"("parameters":{"type":"object","properties":{"n":{)"));
  EXPECT_THAT(before, HasSubstr(R"("servers":[{"name":"gone","state":"lost","reason":")"));
  const TestAnswer ran = fetch(gateway, "POST", "/v1/tools/clock", {}, R"({"arguments":{}})");
  EXPECT_EQ(ran.status, 200);
  EXPECT_THAT(ran.body, HasSubstr(R"("tool":"clock","is_error":false,"text":"{\"utc\":)"));
  const TestAnswer refused = fetch(gateway, "POST", "/v1/tools/inside", {}, "{}");
  EXPECT_EQ(refused.status, 200);
  EXPECT_THAT(refused.body, HasSubstr(R"("is_error":true)"));
  EXPECT_THAT(fetch(gateway, "GET", "/v1/tools").body,
              HasSubstr(R"("name":"inside","object":"tool","kind":"http","source":"inside",)"
                        R"("state":"ready","last_error":{"message":"127.0.0.1:9)"));
  EXPECT_EQ(fetch(gateway, "POST", "/v1/tools/nothing", {}, "{}").status, 404);
  EXPECT_EQ(fetch(gateway, "POST", "/v1/tools/clock", {}, R"({"arguments":1})").status, 400);
  const TestAnswer wrong =
      fetch(gateway, "POST", "/v1/tools/inside", {}, R"({"arguments":{"n":"x"}})");
  EXPECT_EQ(wrong.status, 400);
  EXPECT_THAT(wrong.body, HasSubstr("arguments.n: expected"));
}

TEST(ToolRoutes, are_for_admins) {
  net::Loop loop;
  TestGateway gateway(
      loop, "[[key]]\nname = \"ann\"\nsecret = \"ann-secret\"\n" + std::string(kThreeTools));
  const HeaderPairs ann{{"authorization", "Bearer ann-secret"}};
  EXPECT_EQ(fetch(gateway, "GET", "/v1/tools", ann).status, 403);
  EXPECT_EQ(fetch(gateway, "POST", "/v1/tools/clock", ann, "{}").status, 403);
  const std::string ready = fetch(gateway, "GET", "/readyz", ann).body;
  EXPECT_THAT(ready, HasSubstr(R"("tool_servers":1,"tool_servers_ready":0,)"));
  EXPECT_THAT(ready, Not(HasSubstr("tool_servers_down")));
}

TEST(ToolRoutes, an_operator_learns_from_readyz_why_a_server_is_down) {
  net::Loop loop;
  TestGateway gateway(loop, std::string(kThreeTools));
  const TestAnswer ready = fetch(gateway, "GET", "/readyz");
  EXPECT_EQ(ready.status, 200);
  EXPECT_THAT(ready.body,
              HasSubstr(R"("tool_servers_down":[{"name":"gone","state":"lost","reason":")"));
}

}  // namespace
}  // namespace callgate::server::tool_routes_test
