// Programs in the sandbox, or the refusal where the kernel does not permit one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "net/sandbox.h"
#include "tool/tool_testing.h"

namespace callgate::tool::command_sandbox_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Sandbox : public testing::Test {
 protected:
  void SetUp() override {
    const std::string fault = net::sandbox_fault({});
    if (!fault.empty()) GTEST_SKIP() << fault;
    std::string name = (fs::temp_directory_path() / "callgate_sandbox_XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  void TearDown() override {
    if (!folder_.empty()) fs::remove_all(folder_);
  }
  static ToolResult run(const std::string& script, net::SandboxOptions sandbox = {},
                        const std::string& folder = "") {
    net::Loop loop;
    const ToolConfig config{
        .name = "it",
        .how = CommandToolConfig{
            .command = {"/bin/sh", "-c", script}, .folder = folder, .sandbox = std::move(sandbox)}};
    return run_tool(loop, *make_tool(loop, config), call_with(R"({"n":1})"), net::Millis(60'000));
  }

  std::string folder_;
};

TEST_F(Sandbox, passes_streams_and_exit_status) {
  const ToolResult good = run("cat; echo; echo ok");
  EXPECT_FALSE(good.is_error) << good.text;
  EXPECT_EQ(good.text, "{\"n\":1}\nok\n");
  const ToolResult bad = run("echo why >&2; exit 3");
  EXPECT_TRUE(bad.is_error);
  EXPECT_THAT(bad.text, HasSubstr("exit status 3"));
  EXPECT_THAT(bad.text, HasSubstr("why"));
}

TEST_F(Sandbox, shows_the_system_read_only_with_a_private_tmp) {
  std::ofstream(folder_ + "/mine") << "x";
  const std::string outside = fs::current_path().string() + "/sandbox_leak";
  const ToolResult result =
      run("ls " + folder_ + "; echo a > " + outside + "; echo b > /tmp/own && cat /tmp/own");
  EXPECT_EQ(result.text, "b\n") << "the files of others in /tmp are not there";
  EXPECT_FALSE(fs::exists(outside));
  EXPECT_FALSE(fs::exists("/tmp/own"));
}

TEST_F(Sandbox, lets_listed_folders_be_written_to) {
  const ToolResult result = run("echo a > inside && echo b > " + folder_ + "/whole && pwd",
                                {.writable = {folder_}}, folder_);
  EXPECT_EQ(result.text, folder_ + "\n") << result.text;
  EXPECT_TRUE(fs::exists(folder_ + "/inside"));
  EXPECT_TRUE(fs::exists(folder_ + "/whole"));
}

TEST_F(Sandbox, hides_other_processes_and_the_network) {
  const ToolResult alone =
      run("ls /proc | grep -c '^[0-9]'; echo $$; grep -c : /proc/net/dev; true");
  EXPECT_THAT(alone.text, testing::MatchesRegex("[1-4]\n1\n1\n")) << "itself, and loopback";
}

TEST_F(Sandbox, refuses_sockets_new_namespaces_and_mounts) {
  const ToolResult result =
      run("python3 - <<'E'\nimport socket, ctypes, os\ntry:\n  socket.socket(socket.AF_UNIX)\n"
          "  print('socket')\nexcept PermissionError:\n  print('refused')\n"
          "libc = ctypes.CDLL(None, use_errno=True)\nprint(libc.unshare(0x10000000), "
          "libc.mount(b'a', b'/tmp', b'tmpfs', 0, None))\nE");
  EXPECT_EQ(result.text, "refused\n-1 -1\n") << result.text;
}

TEST_F(Sandbox, keeps_the_limits_of_the_program) {
  net::Loop loop;
  const ToolConfig config{
      .name = "it",
      .how = CommandToolConfig{
          .command = {"/bin/sh", "-c", "ulimit -n; ulimit -t; ulimit -v"},
          .limits = {.cpu_seconds = 7, .memory_bytes = std::uint64_t{1} << 30, .open_files = 33},
          .sandbox = net::SandboxOptions{}}};
  EXPECT_EQ(run_tool(loop, *make_tool(loop, config), call_with("{}"), net::Millis(60'000)).text,
            "33\n7\n1048576\n");
}

TEST_F(Sandbox, ends_with_its_time) {
  net::Loop loop;
  const ToolConfig config{.name = "it",
                          .how = CommandToolConfig{.command = {"/bin/sh", "-c", "sleep 600 & wait"},
                                                   .sandbox = net::SandboxOptions{}}};
  const ToolResult result =
      run_tool(loop, *make_tool(loop, config), call_with("{}"), net::Millis(300));
  EXPECT_THAT(result.text, HasSubstr("timed out"));
}

TEST_F(Sandbox, refuses_to_be_made_where_a_folder_is_missing) {
  net::Loop loop;
  const ToolConfig config{
      .name = "it",
      .how = CommandToolConfig{.command = {"/bin/true"},
                               .sandbox = net::SandboxOptions{.writable = {"/no/such/folder"}}}};
  const auto made = make_source(loop, config);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().message, "tool it: sandbox: /no/such/folder: No such file or directory");
}

}  // namespace
}  // namespace callgate::tool::command_sandbox_test
