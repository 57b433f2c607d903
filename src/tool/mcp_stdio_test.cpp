// The client against servers that are real programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "json/member.h"
#include "tool/mcp_client.h"
#include "tool/tool_testing.h"

namespace callgate::tool::mcp_stdio_test {
namespace {

using testing::HasSubstr;

constexpr const char* kServer = R"py(
import json, os, sys, threading, time
mode = sys.argv[1]
lock = threading.Lock()
cancelled = set()
tools = [{"name": n, "description": n, "inputSchema": {"type": "object"}} for n in
  ["echo", "sleep", "crash", "huge", "garbage", "progress", "fail", "env", "grow", "ask"]]
def say(message):
  with lock:
    sys.stdout.write(json.dumps(dict({"jsonrpc": "2.0"}, **message)) + "\n"); sys.stdout.flush()
def raw(text):
  with lock:
    sys.stdout.buffer.write(text); sys.stdout.flush()
def answer(id, text): say({"id": id, "result": {"content": [{"type": "text", "text": text}]}})
def call(id, params):
  name, args, meta = params["name"], params.get("arguments"), params.get("_meta", {})
  if name == "echo": answer(id, json.dumps(args))
  elif name == "env": answer(id, json.dumps(meta))
  elif name == "crash": sys.stderr.write("last words\n"); sys.stderr.flush(); os._exit(3)
  elif name == "huge":
    for _ in range(40): raw(b"x" * 65536)
  elif name == "garbage":
    raw(b"Debug: \xff\xfe not json\n{\"half\":\n\n[]\n{\"jsonrpc\":\"2.0\",\"id\":99999,\"result\":{}}\n")
    answer(id, "after garbage")
  elif name == "progress":
    for i in (1, 2):
      say({"method": "notifications/progress",
           "params": {"progressToken": meta.get("progressToken"), "progress": i, "total": 2}})
    answer(id, "done")
  elif name == "fail": say({"id": id, "error": {"code": -32602, "message": "bad arguments"}})
  elif name == "grow":
    tools.append({"name": "grown", "inputSchema": {"type": "object"}})
    say({"method": "notifications/tools/list_changed"}); answer(id, "grown")
  elif name == "ask":
    pending.append(id); say({"id": "s1", "method": "roots/list"}); say({"id": "s2", "method": "ping"})
  elif name == "sleep":
    for _ in range(100):
      time.sleep(0.02)
      if id in cancelled: open(args["mark"], "w").write("cancelled"); return
    answer(id, "slept")
pending, replies = [], []
for line in sys.stdin:
  m = json.loads(line)
  method, id = m.get("method"), m.get("id")
  if method is None:
    replies.append(line.strip())
    if len(replies) == 2: answer(pending.pop(), " ".join(replies))
  elif mode == "fragile" and method == "server/discover": os._exit(1)
  elif mode == "silent": pass
  elif method == "server/discover" and mode == "modern":
    say({"id": id, "result": {"resultType": "complete", "supportedVersions": ["2026-07-28"],
         "capabilities": {"tools": {"listChanged": True}}, "serverInfo": {"name": "p", "version": "1"}}})
  elif mode == "modern" and "io.modelcontextprotocol/protocolVersion" not in m.get("params", {}).get("_meta", {}) \
      and id is not None:
    say({"id": id, "error": {"code": -32602, "message": "no _meta"}})
  elif method == "initialize":
    say({"id": id, "result": {"protocolVersion": "2025-06-18" if mode == "older" else "2025-11-25",
         "capabilities": {"tools": {"listChanged": True}}, "serverInfo": {"name": "p", "version": "1"}}})
  elif method == "tools/list":
    at = int(m.get("params", {}).get("cursor", "0"))
    page = {"tools": tools[at:at + 4]}
    if at + 4 < len(tools): page["nextCursor"] = str(at + 4)
    say({"id": id, "result": page})
  elif method == "tools/call": threading.Thread(target=call, args=(id, m["params"])).start()
  elif method == "notifications/cancelled": cancelled.add(m["params"]["requestId"])
  elif id is not None: say({"id": id, "error": {"code": -32601, "message": "Method not found"}})
)py";

ToolConfig server(const std::string& mode) {
  McpToolConfig own{.command = {"python3", "-I", "-S", "-c", kServer, mode}};
  own.message_bytes = 1 << 20;
  own.probe_timeout = net::Millis(3'000);
  own.backoff = net::Millis(20);
  return {.name = "py", .limits = {.timeout = net::Millis(5'000)}, .how = own};
}

// A source on its loop, and what tests ask of it.
class Served {
 public:
  explicit Served(const ToolConfig& config) : source_(std::move(*make_source(loop_, config))) {}

  Result<void> refresh() {
    Result<void> result;
    const auto task = [](ToolSource& source, Result<void>& out) -> net::Task<> {
      out = co_await source.refresh();
    };
    net::run_to_end(loop_, task(*source_, result));
    return result;
  }
  std::shared_ptr<Tool> find(const std::string& name) {
    for (const auto& tool : source_->tools()) {
      if (tool->spec().name == "py__" + name) return tool;
    }
    return nullptr;
  }
  ToolResult run(const std::string& name, const std::string& arguments = "{}", int timeout = 5'000,
                 int cancel_after_ms = -1) {
    const auto tool = find(name);
    return tool
               ? run_tool(loop_, *tool, call_with(arguments), net::Millis(timeout), cancel_after_ms)
               : error_result("no such tool");
  }
  // Lets the loop run until `condition` holds, two seconds at most.
  bool eventually(const std::function<bool()>& condition) {
    const auto task = [](net::Loop& on, const std::function<bool()>& wanted) -> net::Task<> {
      for (int i = 0; i < 400 && !wanted(); ++i) co_await on.sleep(net::Millis(5));
    };
    net::run_to_end(loop_, task(loop_, condition));
    return condition();
  }
  net::Loop& loop() { return loop_; }
  ToolSource& source() { return *source_; }

 private:
  net::Loop loop_;
  std::unique_ptr<ToolSource> source_;
};

TEST(McpStdio, lists_all_pages_and_calls_tools_in_either_revision) {
  for (const char* mode : {"session", "older", "modern"}) {
    Served served(server(mode));
    const auto ready = served.refresh();
    ASSERT_TRUE(ready.has_value()) << mode << ": " << ready.error().message;
    EXPECT_EQ(served.source().tools().size(), 10U) << mode;
    EXPECT_EQ(served.run("echo", R"({"city":"Kraków"})").text, R"({"city": "Krak\u00f3w"})")
        << mode;
    const std::string meta = served.run("env").text;
    EXPECT_THAT(meta, HasSubstr(R"("callgate/request-id": "req_7")")) << mode;
    EXPECT_EQ(meta.find("2026-07-28") != std::string::npos, std::string(mode) == "modern") << mode;
    const ToolResult failed = served.run("fail");
    EXPECT_TRUE(failed.is_error);
    EXPECT_EQ(failed.text, "MCP error -32602: bad arguments");
    EXPECT_EQ(served.run("garbage").text, "after garbage") << mode;
  }
}

TEST(McpStdio, starts_again_what_does_not_survive_the_first_question) {
  Served served(server("fragile"));
  const auto ready = served.refresh();
  ASSERT_TRUE(ready.has_value()) << ready.error().message;
  EXPECT_EQ(served.run("echo").text, "{}");
}

TEST(McpStdio, hears_of_new_tools) {
  for (const char* mode : {"session", "modern"}) {
    Served served(server(mode));
    ASSERT_TRUE(served.refresh().has_value());
    int changes = 0;
    served.source().on_change([&] { ++changes; });
    EXPECT_EQ(served.run("grow").text, "grown");
    EXPECT_TRUE(served.eventually([&] { return served.find("grown") != nullptr; })) << mode;
    EXPECT_EQ(changes, 1);
  }
}

TEST(McpStdio, reports_progress_and_answers_the_server) {
  Served served(server("session"));
  ASSERT_TRUE(served.refresh().has_value());
  std::string seen;
  ToolCall call = call_with("{}");
  call.on_progress = [&](std::string_view json) { seen += json::member_json(json, "progress"); };
  EXPECT_EQ(run_tool(served.loop(), *served.find("progress"), call).text, "done");
  EXPECT_EQ(seen, "12");
  const std::string replies = served.run("ask").text;
  EXPECT_THAT(replies, HasSubstr(R"("id":"s1","error":{"code":-32601)"));
  EXPECT_THAT(replies, HasSubstr(R"("id":"s2","result":{})"));
}

TEST(McpStdio, tells_the_server_that_a_call_is_over) {
  Served served(server("session"));
  ASSERT_TRUE(served.refresh().has_value());
  const std::string mark = testing::TempDir() + "/mcp_cancelled_" + std::to_string(::getpid());
  const std::string arguments = "{\"mark\":\"" + mark + "\"}";
  const auto marked = [&] { return ::access(mark.c_str(), F_OK) == 0; };
  ToolResult result = served.run("sleep", arguments, 60'000, 30);
  EXPECT_EQ(result.text, kCancelledWords);
  EXPECT_LT(result.duration.count(), 30'000);
  EXPECT_TRUE(served.eventually(marked));
  ::unlink(mark.c_str());
  result = served.run("sleep", arguments, 60);
  EXPECT_EQ(result.text, "timed out after 60 ms");
  EXPECT_TRUE(served.eventually(marked));
  ::unlink(mark.c_str());
  EXPECT_EQ(served.run("echo").text, "{}");
}

TEST(McpStdio, comes_back_after_a_crash_and_after_a_flood) {
  Served served(server("session"));
  ASSERT_TRUE(served.refresh().has_value());
  const ToolResult crashed = served.run("crash");
  EXPECT_TRUE(crashed.is_error);
  EXPECT_THAT(crashed.text, HasSubstr("exit status 3; it said: last words"));
  EXPECT_EQ(served.run("echo").text, "{}");
  const ToolResult huge = served.run("huge");
  EXPECT_TRUE(huge.is_error);
  EXPECT_THAT(huge.text, HasSubstr("a line of more than"));
  EXPECT_EQ(served.run("echo").text, "{}");
}

TEST(McpStdio, waits_longer_after_each_failure) {
  ToolConfig config = server("none");
  auto& own = std::get<McpToolConfig>(config.how);
  own.command = {"sh", "-c", "exit 4"};
  own.backoff = net::Millis(10'000);
  Served served(config);
  EXPECT_THAT(served.refresh().error().message, HasSubstr("exit status 4"));
  EXPECT_THAT(served.refresh().error().message, HasSubstr("exit status 4"));
  // The third is not tried before its time: a call does not wait for it in vain.
  const auto client = *McpClient::make(served.loop(), own);
  std::string last;
  const auto task = [](McpClient& it, std::string& out) -> net::Task<> {
    CancelToken never;
    for (int i = 0; i < 3; ++i) {
      const Result<void> up = co_await it.ready(net::Millis(2'000), never);
      out = up ? "" : up.error().message;
    }
  };
  net::run_to_end(served.loop(), task(*client, last));
  EXPECT_THAT(last, HasSubstr("tried again in"));
}

TEST(McpStdio, gives_up_on_a_server_that_never_answers) {
  ToolConfig config = server("silent");
  auto& own = std::get<McpToolConfig>(config.how);
  own.probe_timeout = own.start_timeout = net::Millis(150);
  Served served(config);
  const auto ready = served.refresh();
  ASSERT_FALSE(ready.has_value());
  EXPECT_THAT(ready.error().message, HasSubstr("timed out after 150 ms"));
}

TEST(McpStdio, takes_only_the_tools_that_are_wanted) {
  ToolConfig config = server("session");
  std::get<McpToolConfig>(config.how).tools = {"e*"};
  Served served(config);
  ASSERT_TRUE(served.refresh().has_value());
  EXPECT_EQ(served.source().tools().size(), 2U);
}

}  // namespace
}  // namespace callgate::tool::mcp_stdio_test
