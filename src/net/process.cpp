#include "net/process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>

#include "net/owned_fd.h"

namespace callgate::net {
namespace {

struct PipeEnds {
  OwnedFd read;
  OwnedFd write;
};

bool make_pipe(PipeEnds& ends) {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) return false;
  ends.read = OwnedFd(fds[0]);
  ends.write = OwnedFd(fds[1]);
  return true;
}

struct SpawnPlan {
  SpawnPlan() {
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
  }
  ~SpawnPlan() {
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
  }
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
};

void plan(SpawnPlan& spawn, const ProcessOptions& options, int input, int output, int errors) {
  ::posix_spawn_file_actions_adddup2(&spawn.actions, input, 0);
  ::posix_spawn_file_actions_adddup2(&spawn.actions, output, 1);
  ::posix_spawn_file_actions_adddup2(&spawn.actions, errors, 2);
  ::posix_spawn_file_actions_addclosefrom_np(&spawn.actions, 3);
  if (!options.folder.empty()) {
    ::posix_spawn_file_actions_addchdir_np(&spawn.actions, options.folder.c_str());
  }
  // We ignore SIGPIPE; the child starts with every signal at its default and none blocked.
  sigset_t all;
  sigset_t none;
  ::sigfillset(&all);
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigdefault(&spawn.attributes, &all);
  ::posix_spawnattr_setsigmask(&spawn.attributes, &none);
  ::posix_spawnattr_setpgroup(&spawn.attributes, 0);
  ::posix_spawnattr_setflags(
      &spawn.attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (std::string& text : texts) list.push_back(text.data());
  list.push_back(nullptr);
  return list;
}

void limit(pid_t pid, const ProcessLimits& limits) {
  const auto set = [pid](auto resource, std::uint64_t most) {
    if (most == 0) return;
    const rlimit both{.rlim_cur = most, .rlim_max = most};
    ::prlimit(pid, resource, &both, nullptr);
  };
  set(RLIMIT_CPU, limits.cpu_seconds);
  set(RLIMIT_AS, limits.memory_bytes);
  set(RLIMIT_NOFILE, limits.open_files);
  set(RLIMIT_FSIZE, limits.file_bytes);
}

Error cannot_run(const ProcessOptions& options, int reason) {
  const std::string name = options.command.empty() ? "" : options.command.front();
  return {.code = ErrorCode::unavailable,
          .message = "cannot run \"" + name + "\": " + std::strerror(reason)};
}

}  // namespace

std::vector<std::pair<std::string, std::string>> plain_environment() {
  constexpr std::array<const char*, 10> kNames = {"PATH", "HOME",   "USER",   "LOGNAME", "SHELL",
                                                  "LANG", "LC_ALL", "TMPDIR", "TZ",      "TERM"};
  std::vector<std::pair<std::string, std::string>> environment;
  for (const char* name : kNames) {
    if (const char* value = std::getenv(name)) environment.emplace_back(name, value);
  }
  return environment;
}

Result<std::unique_ptr<Process>> Process::start(Loop& loop, const ProcessOptions& options) {
  if (options.command.empty()) return tl::unexpected(cannot_run(options, EINVAL));
  PipeEnds input;
  PipeEnds output;
  PipeEnds errors;
  if (!make_pipe(input) || !make_pipe(output) || !make_pipe(errors)) {
    return tl::unexpected(cannot_run(options, errno));
  }
  SpawnPlan spawn;
  plan(spawn, options, input.read.get(), output.write.get(), errors.write.get());
  std::vector<std::string> arguments = options.command;
  std::vector<std::string> variables;
  for (const auto& [name, value] : options.environment) variables.push_back(name + "=" + value);
  pid_t pid = -1;
  const int fault =
      ::posix_spawnp(&pid, arguments.front().c_str(), &spawn.actions, &spawn.attributes,
                     pointers(arguments).data(), pointers(variables).data());
  if (fault != 0) return tl::unexpected(cannot_run(options, fault));
  limit(pid, options.limits);
  const int watch = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  if (watch < 0) {
    const int reason = errno;
    ::kill(-pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    return tl::unexpected(cannot_run(options, reason));
  }
  ::fcntl(watch, F_SETFD, FD_CLOEXEC);
  return std::unique_ptr<Process>(new Process(loop, pid, input.write.release(),
                                              output.read.release(), errors.read.release(), watch,
                                              options.last_words));
}

Process::Process(Loop& loop, pid_t pid, int input, int output, int errors, int exit_watch,
                 std::size_t last_words)
    : pid_(pid),
      input_(loop, input),
      output_(loop, output),
      errors_(loop, errors),
      exit_watch_(loop, exit_watch),
      most_last_words_(last_words) {
  watch_errors();
}

Process::~Process() {
  errors_.descriptor().unwatch();
  signal(SIGKILL);
  reap(true);
}

void Process::watch_errors() {
  errors_.descriptor().watch([](void* self) { static_cast<Process*>(self)->drain_errors(); }, this);
}

void Process::drain_errors() {
  std::array<char, 4096> buffer;
  for (;;) {
    const std::ptrdiff_t got = errors_.read_now(buffer.data(), buffer.size());
    if (got == 0) return;  // the end: nothing more to watch for
    if (got < 0) return watch_errors();
    last_words_.append(buffer.data(), static_cast<std::size_t>(got));
    if (last_words_.size() > most_last_words_) {
      last_words_.erase(0, last_words_.size() - most_last_words_);
    }
  }
}

std::string_view Process::last_words() {
  errors_.descriptor().unwatch();
  drain_errors();
  return last_words_;
}

void Process::signal(int number) {
  if (ending_.empty()) ::kill(-pid_, number);
}

// The child is looked at first and released afterwards: until then its number, and that of its group, is its own.
bool Process::reap(bool block) {
  if (!ending_.empty()) return true;
  siginfo_t end{};
  const int options = WEXITED | WNOWAIT | (block ? 0 : WNOHANG);
  while (::waitid(P_PID, static_cast<id_t>(pid_), &end, options) != 0) {
    if (errno != EINTR) return false;
  }
  if (end.si_pid != pid_) return false;
  ::kill(-pid_, SIGKILL);
  ending_ =
      (end.si_code == CLD_EXITED ? "exit status " : "signal ") + std::to_string(end.si_status);
  ::waitpid(pid_, nullptr, 0);
  return true;
}

Task<bool> Process::wait(Millis timeout) {
  while (!reap(false)) {
    const Ready ready = co_await exit_watch_.wait(Direction::read, timeout);
    if (ready != Ready::yes) co_return reap(false);
  }
  co_return true;
}

}  // namespace callgate::net
