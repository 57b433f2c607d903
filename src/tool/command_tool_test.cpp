#include "tool/command_tool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <fstream>

#include "base/utf8.h"
#include "tool/tool_testing.h"

namespace callgate::tool::command_tool_test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

ToolConfig shell(const std::string& script) {
  return {.name = "it", .how = CommandToolConfig{.command = {"/bin/sh", "-c", script}}};
}

ToolResult run(const ToolConfig& config, net::Millis timeout = net::Millis(10'000),
               int cancel_after_ms = -1) {
  net::Loop loop;
  return run_tool(loop, *make_tool(loop, config), call_with(R"({"n":1})"), timeout,
                  cancel_after_ms);
}

std::size_t resident_kib() {
  std::ifstream in("/proc/self/status");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("VmRSS:")) return std::stoul(line.substr(6));
  }
  return 0;
}

bool dies_soon(pid_t pid) {
  for (int i = 0; i < 200; ++i) {
    std::ifstream in("/proc/" + std::to_string(pid) + "/stat");
    std::string stat;
    std::getline(in, stat);
    const std::size_t name = stat.rfind(") ");
    if (name == std::string::npos || stat[name + 2] == 'Z') return true;
    ::usleep(5'000);
  }
  return false;
}

TEST(CommandTool, gets_arguments_on_its_input_and_answers_on_its_output) {
  net::Loop loop;
  const ToolConfig config{.name = "it", .how = CommandToolConfig{.command = {"cat"}}};
  const ToolResult result =
      run_tool(loop, *make_tool(loop, config), call_with(R"({"city":"Kraków"})"));
  EXPECT_EQ(result.text, R"({"city":"Kraków"})");
  EXPECT_FALSE(result.is_error);
  EXPECT_FALSE(result.truncated);
  EXPECT_EQ(result.bytes, result.text.size());
}

TEST(CommandTool, passes_arguments_of_the_command_as_they_are) {
  const ToolConfig config{
      .name = "it", .how = CommandToolConfig{.command = {"printf", "%s|", "a b", "$HOME", "`id`"}}};
  EXPECT_EQ(run(config).text, "a b|$HOME|`id`|");
}

TEST(CommandTool, tells_the_context_and_hides_the_rest_of_the_environment) {
  ::setenv("TOOL_TEST_SECRET", "s3cret", 1);
  ::setenv("TOOL_TEST_PASSED", "given", 1);
  ToolConfig config = shell("env");
  auto& own = std::get<CommandToolConfig>(config.how);
  own.pass_environment = {"TOOL_TEST_PASSED", "TOOL_TEST_MISSING"};
  own.environment = {{"LEVEL", "3"}};
  const std::string text = run(config).text;
  for (const char* line : {"CALLGATE_REQUEST_ID=req_7", "CALLGATE_KEY=alice", "CALLGATE_MODEL=m1",
                           "CALLGATE_SESSION=s9", "CALLGATE_CALL_ID=call_1", "CALLGATE_TOOL=it",
                           "TOOL_TEST_PASSED=given", "LEVEL=3", "PATH="}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  EXPECT_THAT(text, Not(HasSubstr("s3cret")));
}

TEST(CommandTool, reports_status_error_output_and_output_of_a_failure) {
  const ToolResult result = run(shell("echo half; echo why >&2; exit 3"));
  EXPECT_TRUE(result.is_error);
  EXPECT_EQ(result.text, "exit status 3\nstandard error: why\n\nstandard output: half\n");
  EXPECT_THAT(run(shell("kill -SEGV $$")).text, StartsWith("signal 11"));
}

TEST(CommandTool, says_why_a_program_cannot_run) {
  const ToolConfig config{.name = "it",
                          .how = CommandToolConfig{.command = {"callgate-no-such-program"}}};
  const ToolResult result = run(config);
  EXPECT_TRUE(result.is_error);
  EXPECT_THAT(result.text, HasSubstr("No such file"));
}

TEST(CommandTool, ends_a_program_that_hangs_with_all_it_started) {
  const ToolResult result = run(shell("sleep 60 & echo $!; sleep 60"), net::Millis(1000));
  EXPECT_TRUE(result.is_error);
  EXPECT_THAT(result.text, StartsWith("timed out after 1000 ms\nstandard output: "));
  EXPECT_LT(result.duration.count(), 30'000);
  EXPECT_TRUE(dies_soon(std::stoi(result.text.substr(result.text.rfind(' ') + 1))));
}

TEST(CommandTool, stops_at_once_when_cancelled) {
  const ToolResult result = run(shell("trap '' TERM INT; sleep 60"), net::Millis(60'000), 30);
  EXPECT_TRUE(result.is_error);
  EXPECT_EQ(result.text, kCancelledWords);
  EXPECT_LT(result.duration.count(), 30'000);
}

TEST(CommandTool, does_not_wait_for_what_outlives_it) {
  // The second child leaves the group, and only the timeout of the pipe ends the wait for it.
  const ToolResult result = run(shell("sleep 60 & setsid sleep 20 & sleep 0.05; echo done"));
  EXPECT_FALSE(result.is_error);
  EXPECT_EQ(result.text, "done\n");
  EXPECT_LT(result.duration.count(), 15'000);
}

TEST(CommandTool, replaces_bytes_that_are_not_utf8) {
  const ToolResult result = run(shell(R"(printf 'a\377b\303')"));
  EXPECT_EQ(result.text,
            "a\xEF\xBF\xBD"
            "b\xEF\xBF\xBD");
  EXPECT_FALSE(result.is_error);
}

TEST(CommandTool, keeps_the_beginning_and_drops_a_flood_of_a_gigabyte) {
  ToolConfig config = shell("head -c 1073741824 /dev/zero | tr '\\0' 'x'");
  config.how = CommandToolConfig{.command = {"head", "-c", "1073741824", "/dev/zero"},
                                 .output_bytes = std::uint64_t{2} << 30};
  config.limits.result_bytes = 1000;
  const std::size_t before = resident_kib();
  const ToolResult result = run(config, net::Millis(60'000));
  EXPECT_EQ(result.bytes, std::uint64_t{1} << 30);
  EXPECT_TRUE(result.truncated);
  EXPECT_FALSE(result.is_error);
  EXPECT_EQ(result.text.size(), 1000U);
  EXPECT_LT(resident_kib(), before + 64 * 1024);
}

TEST(CommandTool, ends_a_program_that_floods_without_end) {
  ToolConfig config{.name = "it",
                    .how = CommandToolConfig{.command = {"yes"}, .output_bytes = 1 << 20}};
  const ToolResult result = run(config);
  EXPECT_TRUE(result.truncated);
  EXPECT_FALSE(result.is_error);
  EXPECT_EQ(result.text.size(), config.limits.result_bytes);
  EXPECT_LT(result.bytes, std::uint64_t{2} << 20);
}

TEST(CommandTool, keeps_only_the_end_of_a_flood_of_errors) {
  const ToolResult result = run(shell("head -c 20000000 /dev/zero >&2; printf end >&2; exit 1"));
  EXPECT_LT(result.text.size(), 3000U + 3 * 2048U);
  EXPECT_THAT(result.text, testing::EndsWith("end"));
  EXPECT_TRUE(utf8::is_valid(result.text));
}

TEST(CommandTool, lives_with_a_program_that_reads_nothing) {
  net::Loop loop;
  ToolCall call = call_with("{\"big\":\"" + std::string(1'000'000, 'x') + "\"}");
  const ToolResult result = run_tool(loop, *make_tool(loop, shell("echo fine")), call);
  EXPECT_EQ(result.text, "fine\n");
  EXPECT_FALSE(result.is_error);
}

TEST(CommandTool, runs_within_its_limits_and_folder) {
  ToolConfig config =
      shell("sleep 0.05; pwd; ulimit -n; ulimit -t; head -c 9000 /dev/zero > f; wc -c < f");
  const std::string folder = testing::TempDir() + "/command_tool_" + std::to_string(::getpid());
  ASSERT_EQ(::system(("mkdir -p " + folder).c_str()), 0);
  auto& own = std::get<CommandToolConfig>(config.how);
  own.folder = folder;
  own.limits = {.cpu_seconds = 7, .open_files = 33, .file_bytes = 4096};
  EXPECT_THAT(run(config).text, HasSubstr("33\n7\n4096\n"));
  EXPECT_EQ(::system(("rm -r " + folder).c_str()), 0);
}

TEST(CommandTool, runs_side_by_side_without_harm_to_each_other) {
  net::Loop loop;
  const auto bad = make_tool(loop, shell("yes"));
  const auto good = make_tool(loop, shell("sleep 0.05; echo good"));
  CancelToken cancel;
  ToolResult result;
  const auto task = [](net::Loop& on, Tool& flood, Tool& other, CancelToken& token,
                       ToolResult& out) -> net::Task<> {
    const ToolCall call = call_with("{}");
    on.spawn([](Tool& it, CancelToken& end) -> net::Task<> {
      const ToolCall own = call_with("{}");
      const ToolResult flooded = co_await it.run(own, net::Millis(400), end);
      EXPECT_TRUE(flooded.truncated);
    }(flood, token));
    out = co_await other.run(call, net::Millis(5'000), token);
    co_await on.sleep(net::Millis(450));
  };
  net::run_to_end(loop, task(loop, *bad, *good, cancel, result));
  EXPECT_EQ(result.text, "good\n");
}

}  // namespace
}  // namespace callgate::tool::command_tool_test
