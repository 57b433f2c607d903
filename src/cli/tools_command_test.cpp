#include "cli/command_testing.h"

namespace callgate::cli::tools_command_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class ToolsCommandTest : public CommandTest {};

constexpr std::string_view kToolList =
    R"({"object":"list","data":[{"name":"find","kind":"http","source":"find","state":"ready",)"
    R"("last_error":{"message":"HTTP 500","at":"2026-11-18T07:00:00.000Z"},"parameters":{"type":"object"}},)"
    R"({"name":"files__read","kind":"mcp","source":"files","state":"lost","last_error":null,"parameters":{}}],)"
    R"("servers":[{"name":"files","state":"lost","reason":"the MCP server ended","tools":1}]})";

TEST_F(ToolsCommandTest, lists_tools_and_servers) {
  CannedServer gateway({reply(200, std::string(kToolList))});
  const Ran ran = run_command({"tools", "--url", gateway.url(), "--key", "k"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(gateway.targets(), ElementsAre("GET /v1/tools"));
  EXPECT_EQ(ran.out,
            "files        mcp server  lost  1 tools  the MCP server ended\n"
            "find         http  ready  last error 2026-11-18T07:00:00.000Z: HTTP 500\n"
            "files__read  mcp  lost\n");
  CannedServer none({reply(200, R"({"object":"list","data":[],"servers":[]})")});
  EXPECT_EQ(run_command({"tools", "--url", none.url()}).out, "the gateway has no tools\n");
}

TEST_F(ToolsCommandTest, shows_the_schema_of_one) {
  CannedServer gateway({reply(200, std::string(kToolList))});
  const Ran ran = run_command({"tools", "show", "find", "--url", gateway.url()});
  EXPECT_THAT(ran.out, HasSubstr("\"parameters\": {\n    \"type\": \"object\"\n  }"));
  CannedServer again({reply(200, std::string(kToolList))});
  const Ran none = run_command({"tools", "show", "nothing", "--url", again.url()});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_THAT(none.err, HasSubstr("there is no tool \"nothing\""));
}

TEST_F(ToolsCommandTest, runs_one_and_says_how_it_went) {
  CannedServer gateway({reply(200, R"({"tool":"find","is_error":false,"text":"sunny"})")});
  const Ran ran = run_command({"tools", "run", "find", R"({"id":7})", "--url", gateway.url()});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(ran.out, "sunny\n");
  EXPECT_THAT(gateway.targets(), ElementsAre("POST /v1/tools/find"));
  EXPECT_THAT(gateway.requests()[0], HasSubstr(R"({"arguments":{"id":7}})"));
  CannedServer failing({reply(200, R"({"tool":"find","is_error":true,"text":"HTTP 500"})")});
  const Ran failed = run_command({"tools", "run", "find", "--url", failing.url()});
  EXPECT_EQ(failed.exit_code, 1);
  EXPECT_EQ(failed.err, "HTTP 500\n");
}

}  // namespace
}  // namespace callgate::cli::tools_command_test
