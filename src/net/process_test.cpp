#include "net/process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "net/keeper.h"
#include "net/net_testing.h"

namespace callgate::net::process_test {
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

TEST(Process, lets_others_run_however_much_it_complains) {
  Loop loop;
  run_to_end(loop, [](Loop& on) -> Task<> {
    auto child = Process::start(on, shell("exec yes complaint >&2"));
    EXPECT_TRUE(child.has_value());
    const std::uint64_t limit = on.now() + 10'000;
    while ((*child)->last_words().size() < 4096 && on.now() < limit) co_await on.sleep(Millis(1));
    for (int i = 0; i < 200; ++i) co_await on.sleep(Millis(0));
    EXPECT_LT(on.now(), limit);
    EXPECT_EQ((*child)->last_words().size(), 4096u);
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

// Starts a grandchild in a session of its own whose parent is gone, and that forgets its environment.
constexpr std::string_view kRunaway =
    "import os, sys, time\n"
    "if os.fork() == 0:\n"
    "  os.setsid()\n"
    "  if os.fork(): os._exit(0)\n"
    "  os.close(0); os.close(1); os.close(2)\n"
    "  os.execve('/bin/sleep', ['sleep', '600'], {})\n"
    "os.wait()\n"
    "for pid in os.listdir('/proc'):\n"
    "  try:\n"
    "    if not pid.isdigit(): continue\n"
    "    with open(f'/proc/{pid}/stat') as f: ppid = f.read().rsplit(')', 1)[1].split()[1]\n"
    "    if int(ppid) == os.getppid() and int(pid) != os.getpid(): print(pid, flush=True)\n"
    "  except OSError: pass\n";

ProcessOptions runaway(std::string_view then) {
  return {.command = {"python3", "-c", std::string(kRunaway) + std::string(then)},
          .environment = plain_environment()};
}

TEST(Process, ends_what_left_its_session_and_lost_its_parent) {
  for (const std::string_view then : {"time.sleep(600)", "sys.exit(0)"}) {
    Loop loop;
    pid_t grandchild = 0;
    run_to_end(loop, [](Loop& on, pid_t& inner, std::string_view how) -> Task<> {
      auto child = Process::start(on, runaway(how));
      const auto line = co_await (*child)->output().read(Millis(20'000));
      EXPECT_TRUE(line.has_value() && !line->empty());
      if (!line || line->empty()) co_return;
      inner = static_cast<pid_t>(std::stol(std::string(*line)));
      if (how.starts_with("time")) (*child)->signal(SIGKILL);
      EXPECT_TRUE(co_await (*child)->wait(Millis(20'000)));
    }(loop, grandchild, then));
    ASSERT_GT(grandchild, 0);
    EXPECT_FALSE(is_alive(grandchild)) << then;
  }
}

TEST(Process, passes_a_signal_to_the_program) {
  Loop loop;
  run_to_end(loop, [](Loop& on) -> Task<> {
    auto child = Process::start(
        on, shell("trap 'echo bye; exit 7' TERM; echo up; while :; do sleep 0.05; done"));
    EXPECT_EQ(*(co_await (*child)->output().read(Millis(5000))), "up\n");
    (*child)->signal(SIGTERM);
    EXPECT_EQ(co_await read_all(**child), "bye\n");
    EXPECT_TRUE(co_await (*child)->wait(Millis(5000)));
    EXPECT_EQ((*child)->ending(), "exit status 7");
  }(loop));
}

// A process that starts a tool, and is killed: its exit code tells whether it got so far.
pid_t start_and_die(int report) {
  const pid_t starter = ::fork();
  if (starter != 0) return starter;
  Loop loop;
  loop.spawn([](Loop& on, int out) -> Task<> {
    auto child = Process::start(on, runaway("time.sleep(600)"));
    const auto line = co_await (*child)->output().read(Millis(20'000));
    if (!line || ::write(out, line->data(), line->size()) < 1) ::_exit(1);
    ::kill(::getpid(), SIGKILL);
  }(loop, report));
  loop.run();
  ::_exit(2);
}

TEST(Process, ends_with_us_although_we_are_killed) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t starter = start_and_die(ends[1]);
  ::close(ends[1]);
  char text[32] = {};
  ASSERT_GT(::read(ends[0], text, sizeof text - 1), 0);
  ::close(ends[0]);
  int status = 0;
  ASSERT_EQ(::waitpid(starter, &status, 0), starter);
  EXPECT_TRUE(WIFSIGNALED(status));
  const auto grandchild = static_cast<pid_t>(std::stol(text));
  for (int i = 0; i < 5000 && is_alive(grandchild); ++i) ::usleep(2000);
  EXPECT_FALSE(is_alive(grandchild));
}

TEST(Process, cannot_read_our_environment_or_memory) {
  ::setenv("CALLGATE_TEST_SECRET", "hidden", 1);
  const int before = ::prctl(PR_GET_DUMPABLE);
  close_memory_to_others();
  Loop loop;
  run_to_end(loop, [](Loop& on) -> Task<> {
    const std::string pid = std::to_string(::getpid());
    const std::string script = "cat /proc/" + pid + "/environ; head -c1 /proc/" + pid +
                               "/mem; readlink /proc/" + pid +
                               "/cwd; grep hidden /proc/$PPID/environ; echo end";
    auto child = Process::start(on, shell(script));
    EXPECT_EQ(co_await read_all(**child), "end\n");
    const std::string errors((*child)->last_words());
    EXPECT_THAT(errors, HasSubstr(pid + "/environ: Permission denied"));
    EXPECT_THAT(errors, HasSubstr(pid + "/mem' for reading: Permission denied"));
  }(loop));
  ::prctl(PR_SET_DUMPABLE, before);
  ::unsetenv("CALLGATE_TEST_SECRET");
}

TEST(Process, leaves_no_zombie_when_it_is_destroyed) {
  Loop loop;
  pid_t pid = 0;
  {
    auto child = Process::start(loop, shell("sleep 600"));
    pid = (*child)->pid();
    EXPECT_TRUE(exists(pid));
  }
  for (int i = 0; i < 5000 && exists(pid); ++i) ::usleep(2000);
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
}  // namespace callgate::net::process_test
