#include "net/process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <fstream>

#include "net/net_testing.h"

namespace callgate::net {
namespace {

using testing::HasSubstr;

ProcessOptions shell(std::string_view script) {
  return {.command = {"/bin/sh", "-c", std::string(script)}, .environment = plain_environment()};
}

Task<std::string> read_all(Process& process) {
  std::string all;
  for (;;) {
    const auto bytes = co_await process.output().read(Millis(5000));
    if (!bytes || bytes->empty()) break;
    all.append(*bytes);
  }
  co_return all;
}

// A zombie that nobody has collected is dead.
bool is_alive(pid_t pid) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/stat");
  std::string stat;
  std::getline(in, stat);
  const std::size_t name = stat.rfind(") ");
  return name != std::string::npos && stat[name + 2] != 'Z';
}

bool exists(pid_t pid) { return ::kill(pid, 0) == 0; }

TEST(Process, answers_on_its_output_and_ends) {
  Loop loop;
  run_to_end(loop, [](Loop& on) -> Task<> {
    auto child = Process::start(on, {.command = {"cat"}, .environment = plain_environment()});
    EXPECT_TRUE(child.has_value());
    std::string big(300'000, 'x');
    on.spawn([](Process& process, const std::string& bytes) -> Task<> {
      EXPECT_TRUE((co_await process.input().write(bytes, Millis(5000))).has_value());
      process.input().close();
    }(**child, big));
    EXPECT_EQ((co_await read_all(**child)).size(), big.size());
    EXPECT_TRUE(co_await (*child)->wait(Millis(5000)));
    EXPECT_EQ((*child)->ending(), "exit status 0");
  }(loop));
}

TEST(Process, says_why_a_program_cannot_run) {
  Loop loop;
  const auto missing = Process::start(loop, {.command = {"callgate-no-such-program"}});
  ASSERT_FALSE(missing.has_value());
  EXPECT_THAT(missing.error().message, HasSubstr("callgate-no-such-program"));
  EXPECT_EQ(missing.error().code, ErrorCode::unavailable);
  EXPECT_FALSE(Process::start(loop, {}).has_value());
}

TEST(Process, sees_only_the_environment_and_the_folder_it_is_given) {
  Loop loop;
  ::setenv("CALLGATE_TEST_SECRET", "hidden", 1);
  run_to_end(loop, [](Loop& on) -> Task<> {
    ProcessOptions options =
        shell("echo $CALLGATE_TEST_SECRET$SHOWN; pwd; ls /proc/self/fd | wc -l");
    options.environment.emplace_back("SHOWN", "shown");
    options.folder = "/";
    auto child = Process::start(on, options);
    // Its three streams, and the folder that ls reads.
    EXPECT_EQ(co_await read_all(**child), "shown\n/\n4\n");
  }(loop));
  ::unsetenv("CALLGATE_TEST_SECRET");
}

TEST(Process, keeps_the_end_of_what_it_wrote_to_standard_error) {
  Loop loop;
  run_to_end(loop, [](Loop& on) -> Task<> {
    ProcessOptions options = shell("seq 1 20000 >&2; echo last words >&2; exit 3");
    options.last_words = 100;
    auto child = Process::start(on, options);
    EXPECT_TRUE(co_await (*child)->wait(Millis(5000)));
    EXPECT_EQ((*child)->ending(), "exit status 3");
    EXPECT_THAT(std::string((*child)->last_words()), testing::EndsWith("20000\nlast words\n"));
    EXPECT_LE((*child)->last_words().size(), 100u);
  }(loop));
}

TEST(Process, is_killed_with_all_it_started) {
  Loop loop;
  pid_t grandchild = 0;
  run_to_end(loop, [](Loop& on, pid_t& inner) -> Task<> {
    auto child = Process::start(on, shell("sleep 600 & echo $!; wait"));
    const auto line = co_await (*child)->output().read(Millis(5000));
    inner = static_cast<pid_t>(std::stol(std::string(*line)));
    EXPECT_FALSE(co_await (*child)->wait(Millis(10)));
    (*child)->signal(SIGKILL);
    EXPECT_TRUE(co_await (*child)->wait(Millis(5000)));
    EXPECT_EQ((*child)->ending(), "signal 9");
  }(loop, grandchild));
  for (int i = 0; i < 500 && is_alive(grandchild); ++i) ::usleep(2000);
  EXPECT_FALSE(is_alive(grandchild));
}

TEST(Process, leaves_no_zombie_when_it_is_destroyed) {
  Loop loop;
  pid_t pid = 0;
  {
    auto child = Process::start(loop, shell("sleep 600"));
    pid = (*child)->pid();
    EXPECT_TRUE(exists(pid));
  }
  EXPECT_FALSE(exists(pid));
}

TEST(Process, reads_with_a_time_limit) {
  Loop loop;
  run_to_end(loop, [](Loop& on) -> Task<> {
    auto child = Process::start(on, shell("sleep 600"));
    const auto bytes = co_await (*child)->output().read(Millis(10));
    EXPECT_FALSE(bytes.has_value());
    if (bytes) co_return;
    EXPECT_EQ(bytes.error().code, ErrorCode::timed_out);
  }(loop));
}

}  // namespace
}  // namespace callgate::net
