#include "net/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "net/keeper.h"
#include "net/owned_fd.h"

namespace callgate::net {
namespace {

// Milliseconds that a tree gets to end when nobody waits for it any more; it takes one or two.
constexpr int kLastMoment = 250;
// Reads of its standard error, 4 KiB each, before others have their turn: what a pipe holds.
constexpr int kMostReads = 16;

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

void plan(SpawnPlan& spawn, int input, int output, int errors, int control) {
  ::posix_spawn_file_actions_adddup2(&spawn.actions, input, 0);
  ::posix_spawn_file_actions_adddup2(&spawn.actions, output, 1);
  ::posix_spawn_file_actions_adddup2(&spawn.actions, errors, 2);
  ::posix_spawn_file_actions_adddup2(&spawn.actions, control, kKeeperControl);
  ::posix_spawn_file_actions_addclosefrom_np(&spawn.actions, kKeeperControl + 1);
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

Error cannot_run(const ProcessOptions& options, int reason) {
  const std::string name = options.command.empty() ? "" : options.command.front();
  return {.code = ErrorCode::unavailable,
          .message = "cannot run \"" + name + "\": " + std::strerror(reason)};
}

// 0 when `path` can be executed.
int why_not_executable(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return errno;
  if (!S_ISREG(status.st_mode)) return EACCES;
  return ::access(path.c_str(), X_OK) == 0 ? 0 : errno;
}

// The program's path as the keeper needs it. It is looked for here, so that a missing one is known at once.
Result<std::string> find_program(const ProcessOptions& options) {
  const std::string& name = options.command.front();
  if (name.find('/') != std::string::npos) {
    const bool relative = name[0] != '/' && !options.folder.empty();
    const int reason = why_not_executable(relative ? options.folder + "/" + name : name);
    if (reason != 0) return tl::unexpected(cannot_run(options, reason));
    return name;
  }
  const char* path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "/bin:/usr/bin";
  int reason = ENOENT;
  while (!rest.empty() && !name.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const std::string candidate = std::string(rest.substr(0, end)) + "/" + name;
    const int why = candidate[0] == '/' ? why_not_executable(candidate) : ENOENT;
    if (why == 0) return candidate;
    if (why == EACCES) reason = why;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return tl::unexpected(cannot_run(options, reason));
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
  const Result<std::string> program = find_program(options);
  if (!program) return tl::unexpected(program.error());
  PipeEnds input;
  PipeEnds output;
  PipeEnds errors;
  PipeEnds control;
  if (!make_pipe(input) || !make_pipe(output) || !make_pipe(errors) || !make_pipe(control)) {
    return tl::unexpected(cannot_run(options, errno));
  }
  SpawnPlan spawn;
  plan(spawn, input.read.get(), output.write.get(), errors.write.get(), control.read.get());
  std::vector<std::string> arguments = keeper_command(options, *program);
  std::vector<std::string> variables;
  for (const auto& [name, value] : options.environment) variables.push_back(name + "=" + value);
  pid_t pid = -1;
  const int fault = ::posix_spawn(&pid, "/proc/self/exe", &spawn.actions, &spawn.attributes,
                                  pointers(arguments).data(), pointers(variables).data());
  if (fault != 0) return tl::unexpected(cannot_run(options, fault));
  const int watch = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  if (watch < 0) {
    const int reason = errno;
    control.write = OwnedFd();  // the keeper ends what it began
    ::waitpid(pid, nullptr, 0);
    return tl::unexpected(cannot_run(options, reason));
  }
  ::fcntl(control.write.get(), F_SETFL, O_NONBLOCK);
  ::fcntl(watch, F_SETFD, FD_CLOEXEC);
  return std::unique_ptr<Process>(new Process(loop, pid, input.write.release(),
                                              output.read.release(), errors.read.release(), watch,
                                              std::move(control.write), options.last_words));
}

Process::Process(Loop& loop, pid_t pid, int input, int output, int errors, int exit_watch,
                 OwnedFd control, std::size_t last_words)
    : pid_(pid),
      input_(loop, input),
      output_(loop, output),
      errors_(loop, errors),
      exit_watch_(loop, exit_watch),
      control_(std::move(control)),
      most_last_words_(last_words) {
  watch_errors();
}

Process::~Process() {
  errors_.descriptor().unwatch();
  signal(SIGKILL);
  pollfd ended{.fd = exit_watch_.fd(), .events = POLLIN, .revents = 0};
  ::poll(&ended, 1, kLastMoment);
  if (reap()) return;
  // A tree that forks as it is killed may take the keeper longer than an event loop can wait.
  std::thread([pid = pid_] { ::waitpid(pid, nullptr, 0); }).detach();
}

void Process::watch_errors() {
  errors_.descriptor().watch([](void* self) { static_cast<Process*>(self)->drain_errors(); }, this);
}

void Process::drain_errors() {
  std::array<char, 4096> buffer;
  for (int i = 0; i < kMostReads; ++i) {
    const std::ptrdiff_t got = errors_.read_now(buffer.data(), buffer.size());
    if (got == 0) return;  // the end: nothing more to watch for
    if (got < 0) return watch_errors();
    last_words_.append(buffer.data(), static_cast<std::size_t>(got));
    if (last_words_.size() > most_last_words_) {
      last_words_.erase(0, last_words_.size() - most_last_words_);
    }
  }
  watch_errors();  // it writes as fast as we read: others have their turn
}

std::string_view Process::last_words() {
  errors_.descriptor().unwatch();
  drain_errors();
  return last_words_;
}

// The keeper reads at once: one byte always fits.
void Process::signal(int number) {
  if (!ending_.empty()) return;
  const char byte = static_cast<char>(number);
  const ssize_t written = ::write(control_.get(), &byte, 1);
  static_cast<void>(written);
}

bool Process::reap() {
  if (!ending_.empty()) return true;
  siginfo_t end{};
  while (::waitid(P_PID, static_cast<id_t>(pid_), &end, WEXITED | WNOHANG) != 0) {
    if (errno != EINTR) return false;
  }
  if (end.si_pid != pid_) return false;
  ending_ =
      (end.si_code == CLD_EXITED ? "exit status " : "signal ") + std::to_string(end.si_status);
  return true;
}

Task<bool> Process::wait(Millis timeout) {
  while (!reap()) {
    exit_watch_.drained();
    const Ready ready = co_await exit_watch_.wait(Direction::read, timeout);
    if (ready != Ready::yes) co_return reap();
  }
  co_return true;
}

}  // namespace callgate::net
