#include "tool/host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>

#include "json/writer.h"
#include "tool/tool_testing.h"

namespace callgate::tool::host_test {
namespace {

using testing::HasSubstr;

std::vector<ToolConfig> some_tools() {
  std::vector<ToolConfig> configs;
  configs.push_back({.name = "shell",
                     .parameters = {R"({"type":"object","required":["n"]})"},
                     .how = CommandToolConfig{.command = {"cat"}}});
  configs.push_back({.name = "hang", .how = CommandToolConfig{.command = {"sleep", "60"}}});
  configs.push_back({.name = "clock", .how = BuiltinToolConfig{"time"}});
  configs.push_back({.name = "clock", .how = BuiltinToolConfig{"time"}});
  configs.push_back({.name = "odd",
                     .parameters = {R"({"type":"objekt"})"},
                     .how = CommandToolConfig{.command = {"cat"}}});
  configs.push_back({.name = "gone", .how = McpToolConfig{.command = {"false"}}});
  return configs;
}

std::string text_of(ToolHost& host, net::Loop& loop, const std::string& tool,
                    const std::string& arguments, net::Millis timeout, int cancel_after_ms = -1) {
  std::string text;
  const auto task = [](ToolHost& it, net::Loop& on, ToolCall call, net::Millis limit, int after,
                       std::string& out) -> net::Task<> {
    const auto cancel = std::make_shared<CancelToken>();
    if (after >= 0) {
      on.spawn([](net::Loop& same, std::shared_ptr<CancelToken> token, int ms) -> net::Task<> {
        co_await same.sleep(net::Millis(ms));
        token->cancel();
      }(on, cancel, after));
    }
    const ToolResult result = co_await it.run(on, std::move(call), limit, *cancel);
    out = result.text;
  };
  ToolCall call = call_with(arguments);
  call.name = tool;
  net::run_to_end(loop, task(host, loop, std::move(call), timeout, cancel_after_ms, text));
  return text;
}

TEST(ToolHost, knows_its_tools_and_runs_them_for_any_loop) {
  std::mutex mutex;
  std::string log;
  auto host = ToolHost::start({.tools = some_tools(), .hooks = {}}, [&](std::string_view line) {
    const std::lock_guard lock(mutex);
    log.append(line).append("\n");
  });
  ASSERT_TRUE(host.has_value());
  ASSERT_TRUE((*host)->wait_until_listed(net::Millis(5'000)));
  const auto catalogue = (*host)->catalogue();
  ASSERT_EQ(catalogue->entries().size(), 4U);
  EXPECT_EQ(catalogue->find("clock")->kind, "builtin");
  EXPECT_EQ(catalogue->find("nothing"), nullptr);
  EXPECT_THAT(catalogue->check("shell", "{}").error().message, HasSubstr("arguments.n: missing"));
  EXPECT_TRUE(catalogue->check("shell", R"({"n":1})").has_value());
  EXPECT_TRUE(catalogue->check("odd", R"({"n":1})").has_value());
  EXPECT_EQ(catalogue->check("nothing", "{}").error().code, ErrorCode::not_found);

  const auto work = [&host](net::Loop& loop) {
    const auto task = [](ToolHost& it, net::Loop& on) -> net::Task<> {
      CancelToken cancel;
      for (int i = 0; i < 20; ++i) {
        ToolCall call = call_with("{\"n\":" + std::to_string(i) + "}");
        call.name = "shell";
        const std::string wanted = call.arguments;
        const ToolResult result = co_await it.run(on, std::move(call), net::Millis(5'000), cancel);
        EXPECT_EQ(result.text, wanted);
      }
      ToolCall unknown = call_with("{}");
      const ToolResult result = co_await it.run(on, std::move(unknown), net::Millis(5'000), cancel);
      EXPECT_EQ(result.text, "there is no tool \"it\"");
    };
    net::run_to_end(loop, task(**host, loop));
  };
  net::Loop first;
  net::Loop second;
  std::thread other([&] { work(second); });
  work(first);
  other.join();
  host->reset();
  EXPECT_THAT(log, HasSubstr("the name is taken"));
  EXPECT_THAT(log, HasSubstr("tool odd: its arguments are not checked"));
  EXPECT_THAT(log, HasSubstr("tool gone: the MCP server ended"));
}

TEST(ToolHost, ends_runs_that_are_cancelled_late_or_left) {
  auto host = std::move(*ToolHost::start({.tools = some_tools(), .hooks = {}}, nullptr));
  net::Loop loop;
  const auto task = [](ToolHost& it, net::Loop& on) -> net::Task<> {
    CancelToken cancel;
    on.spawn([](net::Loop& same, CancelToken& token) -> net::Task<> {
      co_await same.sleep(net::Millis(30));
      token.cancel();
    }(on, cancel));
    ToolCall call = call_with("{}");
    call.name = "hang";
    ToolCall again = call;
    const ToolResult cancelled = co_await it.run(on, std::move(call), net::Millis(60'000), cancel);
    EXPECT_EQ(cancelled.text, kCancelledWords);
    EXPECT_LT(cancelled.duration.count(), 30'000);
    CancelToken never;
    const ToolResult late = co_await it.run(on, std::move(again), net::Millis(50), never);
    EXPECT_EQ(late.text, "timed out after 50 ms");
  };
  net::run_to_end(loop, task(*host, loop));
  {
    // Its loop goes while the tool runs.
    CancelToken never;
    net::Loop short_lived;
    short_lived.spawn([](ToolHost& it, net::Loop& on, CancelToken& token) -> net::Task<> {
      ToolCall call = call_with("{}");
      call.name = "hang";
      (void)co_await it.run(on, std::move(call), net::Millis(60'000), token);
    }(*host, short_lived, never));
  }
  const auto began = std::chrono::steady_clock::now();
  host.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(30));
}

ToolConfig shell_tool(const std::string& script) {
  return {.name = "it", .how = CommandToolConfig{.command = {"sh", "-c", script}}};
}

TEST(ToolHost, replaces_its_tools_while_calls_run) {
  auto host =
      std::move(*ToolHost::start({.tools = {shell_tool("sleep 0.1; echo old")}, .hooks = {}}, {}));
  net::Loop loop;
  std::string first;
  const auto task = [](ToolHost& it, net::Loop& on, std::string& out) -> net::Task<> {
    CancelToken never;
    const ToolResult result = co_await it.run(on, call_with("{}"), net::Millis(5'000), never);
    out = result.text;
  };
  loop.spawn(task(*host, loop, first));
  const ToolConfig broken{.name = "other", .how = HttpToolConfig{.url = "no url"}};
  EXPECT_FALSE(host->replace({.tools = {broken}, .hooks = {}}).has_value());
  EXPECT_NE(host->catalogue()->find("it"), nullptr);
  HookConfig odd;
  odd.url = "http://h/{id}";
  EXPECT_FALSE(host->replace({.tools = {}, .hooks = {odd}}).has_value());
  EXPECT_NE(host->catalogue()->find("it"), nullptr);
  ASSERT_TRUE(host->replace({.tools = {shell_tool("echo new")}, .hooks = {}}).has_value());
  const auto of = [&](const std::string& name) {
    return text_of(*host, loop, name, "{}", net::Millis(5'000));
  };
  EXPECT_EQ(of("it"), "new\n");
  ASSERT_TRUE(host->replace({}).has_value());
  EXPECT_EQ(of("it"), "there is no tool \"it\"");
  while (first.empty())
    net::run_to_end(loop,
                    [](net::Loop& on) -> net::Task<> { co_await on.sleep(net::Millis(5)); }(loop));
  EXPECT_EQ(first, "old\n");
}

// Says of itself what it should do: the last part of its path.
net::Task<> hook_server(net::Exchange& exchange) {
  const auto body = co_await exchange.body();
  const std::string path(exchange.head().target);
  const std::string question(body ? *body : "");
  std::string answer = R"({"action":"allow"})";
  int status = 200;
  if (path == "/deny") answer = R"({"action":"deny","reason":"not on a Monday"})";
  if (path == "/rewrite") answer = R"({"action":"allow","arguments":{"n":2}})";
  if (path == "/misfit") answer = R"({"action":"allow","arguments":{"m":2}})";
  if (path == "/replace") answer = R"({"action":"replace","result":"instead"})";
  if (path == "/garbage") answer = "<html>";
  if (path == "/long") answer.append(2'000'000, ' ');
  if (path == "/fault") status = 500;
  if (path == "/empty") status = 204;
  if (path == "/hang") co_await exchange.loop().sleep(net::Millis(60'000));
  if (path == "/echo") {
    answer = R"({"action":"replace","is_error":true,"result":)";
    json::append_string(answer, question);
    answer.push_back('}');
  }
  if (status == 204) answer.clear();
  co_await exchange.respond(status, "application/json", answer);
}

struct HookCase {
  std::vector<std::string> before;
  std::vector<std::string> after;
  bool allow_on_failure = false;
  std::string text;     // of the result
  std::string noticed;  // by the observer
};

TEST(ToolHost, asks_hooks_before_and_after_a_call) {
  const std::string asked =
      R"({"type":"before_tool_call","tool":"shell","call_id":"call_1","arguments":{"n":1},)"
      R"("context":{"request":"req_7","key":"alice","model":"m1","session":"s9"}})";
  const std::string told = R"({"type":"after_tool_call","tool":"shell","call_id":"call_1",)"
                           R"("arguments":{"n":2},"context":{"request":"req_7","key":"alice",)"
                           R"("model":"m1","session":"s9"},"result":"{\"n\":2}","is_error":false})";
  const std::string failed = "the call was denied: the check \"h\" could not be made";
  const std::string withheld = "the result was withheld: the check \"h\" could not be made";
  const std::vector<HookCase> cases = {
      {{"/allow", "/empty"}, {"/allow"}, false, R"({"n":1})", "allow allow allow "},
      {{"/deny", "/rewrite"}, {"/echo"}, false, "the call was denied: not on a Monday", "deny "},
      {{"/rewrite"}, {}, false, R"({"n":2})", "rewrite "},
      {{"/replace", "/deny"}, {"/allow"}, false, "instead", "replace allow "},
      {{"/echo"}, {}, false, asked, "replace "},
      {{"/rewrite"}, {"/echo"}, false, told, "rewrite replace "},
      {{}, {"/replace", "/allow"}, false, "instead", "replace allow "},
      {{}, {"/deny"}, false, "the result was withheld: not on a Monday", "deny "},
      {{"/misfit"}, {}, false, failed, "failed "},
      {{"/misfit"}, {}, true, R"({"n":1})", "failed "},
      {{"/garbage"}, {}, false, failed, "failed "},
      {{"/long"}, {}, false, failed, "failed "},
      {{"/fault"}, {}, true, R"({"n":1})", "failed "},
      {{"/hang"}, {}, false, failed, "failed "},
      {{}, {"/hang"}, false, withheld, "failed "},
      {{}, {"/rewrite"}, false, withheld, "failed "},
      {{}, {"/garbage"}, true, R"({"n":1})", "failed "},
  };
  net::ServerThread server(hook_server);
  std::string noticed;  // read while nothing runs
  auto host = std::move(*ToolHost::start(
      {.tools = some_tools(), .hooks = {}}, nullptr,
      [&noticed](const HookNotice& notice) { noticed.append(notice.outcome).append(" "); }));
  net::Loop loop;
  for (const HookCase& row : cases) {
    ToolSet set{.tools = some_tools(), .hooks = {}};
    const auto add = [&](const std::string& path, bool before) {
      HookConfig hook;
      hook.name = "h";
      hook.url = "http://127.0.0.1:" + std::to_string(server.port()) + path;
      hook.before = before;
      hook.after = !before;
      hook.timeout = net::Millis(path == "/hang" ? 60 : 5'000);
      hook.allow_on_failure = row.allow_on_failure;
      hook.network.addresses = {"127.0.0.0/8"};
      set.hooks.push_back(hook);
    };
    for (const std::string& path : row.before) add(path, true);
    for (const std::string& path : row.after) add(path, false);
    add("/deny", true);
    set.hooks.back().tools = {"other*"};
    add("/deny", true);
    set.hooks.back().keys = {"bob"};
    ASSERT_TRUE(host->replace(set).has_value());
    noticed.clear();
    const std::string text = text_of(*host, loop, "shell", R"({"n":1})", net::Millis(5'000));
    EXPECT_EQ(text, row.text);
    EXPECT_EQ(noticed, row.noticed) << row.text;
  }
  ToolSet set{.tools = some_tools(), .hooks = {}};
  set.hooks.push_back({.name = "h",
                       .url = "http://127.0.0.1:" + std::to_string(server.port()) + "/hang",
                       .network = {.addresses = {"127.0.0.0/8"}}});
  ASSERT_TRUE(host->replace(set).has_value());
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(text_of(*host, loop, "shell", R"({"n":1})", net::Millis(50)), "timed out after 50 ms");
  EXPECT_EQ(text_of(*host, loop, "shell", R"({"n":1})", net::Millis(60'000), 30), kCancelledWords);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(30));
}

// Lines of the log, from any thread.
class Lines {
 public:
  void add(std::string_view line) {
    const std::lock_guard lock(mutex_);
    text_.append(line).append("\n");
  }
  std::string text() {
    const std::lock_guard lock(mutex_);
    return text_;
  }
  bool eventually_has(std::string_view part) {
    for (int i = 0; i < 10'000; ++i) {
      if (text().find(part) != std::string::npos) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return false;
  }

 private:
  std::mutex mutex_;
  std::string text_;
};

TEST(ToolHost, logs_what_is_thrown_on_its_thread) {
  Lines lines;
  std::atomic<bool> thrown = false;
  const ToolConfig gone{.name = "gone", .how = McpToolConfig{.command = {"false"}}};
  auto host = ToolHost::start({.tools = {gone}, .hooks = {}}, [&](std::string_view line) {
    if (!thrown.exchange(true)) throw std::runtime_error("the log is full");
    lines.add(line);
  });
  ASSERT_TRUE(host.has_value());
  EXPECT_TRUE(lines.eventually_has("the log is full"));
}

TEST(ToolHost, a_run_that_throws_has_a_result_and_is_logged) {
  net::ServerThread server(hook_server);
  Lines lines;
  HookConfig hook;
  hook.name = "h";
  hook.url = "http://127.0.0.1:" + std::to_string(server.port()) + "/allow";
  hook.network.addresses = {"127.0.0.0/8"};
  auto host = std::move(*ToolHost::start(
      {.tools = some_tools(), .hooks = {hook}}, [&](std::string_view line) { lines.add(line); },
      [](const HookNotice&) { throw std::runtime_error("nobody observes"); }));
  net::Loop loop;
  EXPECT_EQ(text_of(*host, loop, "shell", R"({"n":1})", net::Millis(60'000)),
            "the tool could not be run: nobody observes");
  EXPECT_THAT(lines.text(), HasSubstr("tool shell: nobody observes"));
}

TEST(ToolHost, a_call_that_runs_when_it_ends_is_cancelled_and_told) {
  const std::string mark = testing::TempDir() + "/host_end_" + std::to_string(::getpid());
  auto host = std::move(*ToolHost::start(
      {.tools = {shell_tool("touch " + mark + "; sleep 600")}, .hooks = {}}, nullptr));
  std::string text;
  std::thread caller([&text, &used = *host] {
    net::Loop loop;
    text = text_of(used, loop, "it", "{}", net::Millis(60'000));
  });
  for (int i = 0; i < 10'000 && ::access(mark.c_str(), F_OK) != 0; ++i) ::usleep(2000);
  ASSERT_EQ(::access(mark.c_str(), F_OK), 0);
  host.reset();
  caller.join();
  EXPECT_EQ(text, kCancelledWords);
  ::unlink(mark.c_str());
}

// The name has to be looked up first, and the answer comes in two parts.
TEST(ToolHost, a_hook_has_time_to_connect_and_to_answer) {
  net::ServerThread server([](net::Exchange& exchange) -> net::Task<> {
    (void)co_await exchange.body();
    const net::Headers headers{{"content-type", "application/json"}};
    exchange.start(200, headers);
    (void)co_await exchange.flush();
    co_await exchange.loop().sleep(net::Millis(20));
    (void)co_await exchange.end(R"({"action":"replace","result":"late"})");
  });
  HookConfig hook;
  hook.name = "h";
  hook.url = "http://localhost:" + std::to_string(server.port()) + "/";
  hook.network.addresses = {"127.0.0.0/8", "::1"};
  hook.timeout = net::Millis(30'000);
  auto host =
      std::move(*ToolHost::start({.tools = some_tools(), .hooks = {hook}}, nullptr, nullptr));
  net::Loop loop;
  EXPECT_EQ(text_of(*host, loop, "shell", R"({"n":1})", net::Millis(60'000)), "late");
}

// Only so many events are on their way: what is more is dropped and said.
TEST(ToolHost, bounds_what_hooks_are_told) {
  std::atomic<bool> open = false;
  net::ServerThread server([&open](net::Exchange& exchange) -> net::Task<> {
    while (!open) co_await exchange.loop().sleep(net::Millis(2));
    (void)co_await exchange.respond(200, "text/plain", "ok");
  });
  HookConfig hook;
  hook.name = "h";
  hook.before = false;
  hook.told = {HookMoment::round};
  hook.keys = {"a*"};
  hook.url = "http://127.0.0.1:" + std::to_string(server.port()) + "/";
  hook.network.addresses = {"127.0.0.0/8"};
  hook.timeout = net::Millis(60'000);
  Lines lines;
  auto host = std::move(
      *ToolHost::start({.tools = {}, .hooks = {hook}}, nullptr, [&](const HookNotice& notice) {
        lines.add(std::string(notice.hook) + " " + std::string(notice.outcome));
      }));
  EXPECT_TRUE(host->has_hooks(HookMoment::round));
  EXPECT_FALSE(host->has_hooks(HookMoment::approval));
  host->tell({.moment = HookMoment::approval, .tool = "t", .key = "ann", .json = "{}"});
  host->tell({.moment = HookMoment::round, .tool = "", .key = "bob", .json = "{}"});
  for (std::size_t i = 0; i < ToolHost::kMostTold + 2; ++i) {
    host->tell({.moment = HookMoment::round, .tool = "", .key = "ann", .json = "{}"});
  }
  EXPECT_TRUE(lines.eventually_has("* dropped"));
  EXPECT_EQ(lines.text().find("h told"), std::string::npos);
  open = true;
  EXPECT_TRUE(lines.eventually_has("h told"));
}

// Speaks just enough of the protocol to list no tools, then ends.
TEST(ToolHost, says_when_a_server_becomes_ready_and_when_it_is_lost) {
  const std::string script =
      R"sh(read a; printf '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}\n'; )sh"
      R"sh(read b; read c; printf '{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"x","inputSchema":{}}]}}\n'; sleep 0.2)sh";
  McpToolConfig mcp;
  mcp.command = {"sh", "-c", script};
  mcp.revision = McpRevision::session_2025_11_25;
  Lines lines;
  auto host = std::move(
      *ToolHost::start({.tools = {{.name = "files", .how = mcp}}, .hooks = {}}, nullptr, {},
                       [&](const ServerStatus& server) {
                         lines.add(server.name + " " + std::string(to_string(server.state.kind)) +
                                   " " + std::to_string(server.tools) + " " + server.state.reason);
                       }));
  EXPECT_TRUE(lines.eventually_has("files ready 1 "));
  EXPECT_TRUE(lines.eventually_has("files lost 1 the MCP server ended"));
  EXPECT_EQ(host->servers().at(0).state.kind, SourceState::Kind::lost);
}

// The log throws at the end of the start of the server, which everybody waits for.
TEST(ToolHost, a_server_whose_start_throws_keeps_nobody_waiting) {
  const ToolConfig never{
      .name = "gone",
      .how = McpToolConfig{.command = {"false"}, .start_timeout = net::Millis(600'000)}};
  std::atomic<int> thrown = 0;
  Lines lines;
  auto host = std::move(*ToolHost::start(
      {.tools = {never}, .hooks = {}}, [&](std::string_view line) { lines.add(line); }, {},
      [&](const ServerStatus&) {
        if (++thrown == 1) throw std::runtime_error("nobody looks");
      }));
  EXPECT_TRUE(lines.eventually_has("nobody looks"));
  EXPECT_TRUE(lines.eventually_has("tool gone: starting the MCP server broke off"));
  EXPECT_TRUE(host->wait_until_listed(net::Millis(5'000)));
}

TEST(ToolHost, a_reload_that_throws_fails) {
  std::atomic<bool> throws = false;
  auto host = std::move(*ToolHost::start({.tools = {}, .hooks = {}}, [&](std::string_view) {
    if (throws.exchange(false)) throw std::runtime_error("the log is full");
  }));
  throws = true;
  const auto replaced = host->replace({.tools = some_tools(), .hooks = {}});
  ASSERT_FALSE(replaced.has_value());
  EXPECT_EQ(replaced.error().message, "replacing the tools broke off inside the gateway");
  EXPECT_TRUE(host->replace({.tools = some_tools(), .hooks = {}}).has_value());
}

TEST(ToolHost, logs_calls_that_its_rules_for_addresses_refuse) {
  Lines lines;
  const ToolConfig inside{.name = "inside", .how = HttpToolConfig{.url = "http://127.0.0.1:9/"}};
  auto host = std::move(*ToolHost::start({.tools = {inside}, .hooks = {}},
                                         [&](std::string_view line) { lines.add(line); }));
  net::Loop loop;
  (void)text_of(*host, loop, "inside", "{}", net::Millis(5'000));
  EXPECT_TRUE(lines.eventually_has("tool inside: 127.0.0.1:9"));
  EXPECT_THAT(host->last_error("inside")->text, HasSubstr("127.0.0.1"));
  EXPECT_FALSE(host->last_error("other"));
}

}  // namespace
}  // namespace callgate::tool::host_test
