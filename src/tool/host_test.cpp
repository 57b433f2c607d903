#include "tool/host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tool/tool_testing.h"

namespace callgate::tool {
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

TEST(ToolHost, knows_its_tools_and_runs_them_for_any_loop) {
  std::mutex mutex;
  std::string log;
  auto host = ToolHost::start(some_tools(), [&](std::string_view line) {
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
  auto host = std::move(*ToolHost::start(some_tools(), nullptr));
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
    const ToolResult cancelled = co_await it.run(on, std::move(call), net::Millis(5'000), cancel);
    EXPECT_EQ(cancelled.text, kCancelledWords);
    EXPECT_LT(cancelled.duration.count(), 250);
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
      (void)co_await it.run(on, std::move(call), net::Millis(5'000), token);
    }(*host, short_lived, never));
  }
  const auto began = std::chrono::steady_clock::now();
  host.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(1));
}

}  // namespace
}  // namespace callgate::tool
