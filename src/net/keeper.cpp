#include "net/keeper.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "net/process.h"

namespace callgate::net {
namespace {

// FOLDER, four limits, PROGRAM and ARG0 follow the name.
constexpr int kFirstArgument = 7;
constexpr int kLeastArguments = kFirstArgument + 1;
// A tree that forks faster than it can be killed is given up after this many sweeps.
constexpr int kMostSweeps = 2'000;
constexpr int kCannotRun = 127;

// Capabilities that open the memory of other processes. Only root has them. CAP_SYS_ADMIN is among them since it stands for
// CAP_PERFMON, which may read any environment.
void drop_capabilities() {
  for (const int capability : {CAP_SYS_PTRACE, CAP_SYS_ADMIN, CAP_SYS_RAWIO, CAP_SYS_MODULE,
                               CAP_PERFMON, CAP_BPF, CAP_CHECKPOINT_RESTORE}) {
    ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  }
}

[[noreturn]] void become_program(char** argv, char** environment) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::setpgid(0, 0);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (argv[1][0] != 0 && ::chdir(argv[1]) != 0) {
    ::dprintf(2, "cannot run in %s: %s\n", argv[1], std::strerror(errno));
    ::_exit(kCannotRun);
  }
  limit_self(argv + 2);
  ::execve(argv[kFirstArgument - 1], argv + kFirstArgument, environment);
  ::dprintf(2, "cannot run %s: %s\n", argv[kFirstArgument - 1], std::strerror(errno));
  ::_exit(kCannotRun);
}

// Those that have ended and wait to be collected count as well.
bool has_children() {
  siginfo_t info{};
  return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

// The parent of a process, 0 when it is gone. Its name, in brackets, may hold anything.
pid_t parent_of(const char* pid) {
  std::array<char, 64> path;
  std::array<char, 512> text{};
  std::snprintf(path.data(), path.size(), "/proc/%s/stat", pid);
  const int file = ::open(path.data(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const ssize_t size = ::read(file, text.data(), text.size() - 1);
  ::close(file);
  const char* name_end = size > 0 ? std::strrchr(text.data(), ')') : nullptr;
  int parent = 0;
  char state = 0;
  if (name_end == nullptr || std::sscanf(name_end + 1, " %c %d", &state, &parent) != 2) return 0;
  return parent;
}

// What is killed loses its children to us, so some rounds reach the whole tree.
void kill_children() {
  DIR* processes = ::opendir("/proc");
  if (processes == nullptr) return;
  const pid_t self = ::getpid();
  while (const dirent* entry = ::readdir(processes)) {
    if (entry->d_name[0] < '0' || entry->d_name[0] > '9') continue;
    if (parent_of(entry->d_name) == self) ::kill(std::atoi(entry->d_name), SIGKILL);
  }
  ::closedir(processes);
}

void kill_tree() {
  for (int sweep = 0; sweep < kMostSweeps && has_children(); ++sweep) {
    kill_children();
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    if (has_children()) ::poll(nullptr, 0, sweep < 10 ? 0 : 1);
  }
}

// Ends as the program did.
[[noreturn]] void end_like(const siginfo_t& end) {
  if (end.si_code == CLD_EXITED) ::_exit(end.si_status);
  const rlimit none{};
  ::setrlimit(RLIMIT_CORE, &none);
  ::signal(end.si_status, SIG_DFL);
  sigset_t all;
  ::sigemptyset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  ::kill(::getpid(), end.si_status);
  ::_exit(128 + end.si_status);
}

// Signals that came through the control; the end of it is one of SIGKILL.
void pass_signals(pid_t program) {
  std::array<char, 64> bytes;
  const ssize_t count = ::read(kKeeperControl, bytes.data(), bytes.size());
  if (count < 0) return;
  if (count == 0) ::kill(program, SIGKILL);
  for (ssize_t i = 0; i < count; ++i) {
    const int number = static_cast<unsigned char>(bytes[static_cast<std::size_t>(i)]);
    ::kill(-program, number);
    if (number == SIGKILL) ::kill(program, SIGKILL);
  }
}

// Orphans that the kernel gave us and that have ended.
void collect_orphans(pid_t program) {
  for (;;) {
    siginfo_t info{};
    if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0) return;
    if (info.si_pid == 0 || info.si_pid == program) return;
    ::waitpid(info.si_pid, nullptr, WNOHANG);
  }
}

bool has_ended(pid_t program, siginfo_t& end) {
  end = {};
  return ::waitid(P_PID, static_cast<id_t>(program), &end, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         end.si_pid == program;
}

void note_child(int) {}

[[noreturn]] void keep(char** argv, char** environment) {
  sigset_t all;
  sigset_t in_poll;
  ::sigfillset(&all);
  ::sigfillset(&in_poll);
  ::sigdelset(&in_poll, SIGCHLD);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  struct sigaction child {};
  child.sa_handler = note_child;
  ::sigaction(SIGCHLD, &child, nullptr);
  ::fcntl(kKeeperControl, F_SETFD, FD_CLOEXEC);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  drop_capabilities();
  const pid_t program = ::fork();
  if (program < 0) ::_exit(kCannotRun);
  if (program == 0) become_program(argv, environment);
  ::setpgid(program, program);
  // The streams are the program's: they end when it closes them.
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int stream : {0, 1, 2}) ::dup2(nothing, stream);
  siginfo_t end{};
  while (!has_ended(program, end)) {
    collect_orphans(program);
    pollfd control{.fd = kKeeperControl, .events = POLLIN, .revents = 0};
    if (::ppoll(&control, 1, nullptr, &in_poll) > 0) pass_signals(program);
  }
  ::kill(-program, SIGKILL);
  kill_tree();
  end_like(end);
}

// Before main(), and before the executable's own globals matter.
[[gnu::constructor]] void keep_if_asked(int argc, char** argv, char** environment) {
  if (argc < kLeastArguments || std::strcmp(argv[0], kKeeperName) != 0) return;
  keep(argv, environment);
}

}  // namespace

void limit_self(char** words) {
  constexpr std::array kResources = {RLIMIT_CPU, RLIMIT_AS, RLIMIT_NOFILE, RLIMIT_FSIZE};
  for (std::size_t i = 0; i < kResources.size(); ++i) {
    const rlim_t most = std::strtoull(words[i], nullptr, 10);
    const rlimit both{.rlim_cur = most, .rlim_max = most};
    if (most != 0) ::setrlimit(kResources[i], &both);
  }
}

std::vector<std::string> limit_words(const ProcessLimits& limits) {
  return {std::to_string(limits.cpu_seconds), std::to_string(limits.memory_bytes),
          std::to_string(limits.open_files), std::to_string(limits.file_bytes)};
}

std::vector<std::string> keeper_command(const ProcessOptions& options, const std::string& program) {
  std::vector<std::string> command = {kKeeperName, options.folder};
  const std::vector<std::string> limits = limit_words(options.limits);
  command.insert(command.end(), limits.begin(), limits.end());
  command.push_back(program);
  command.insert(command.end(), options.command.begin(), options.command.end());
  return command;
}

void close_memory_to_others() { ::prctl(PR_SET_DUMPABLE, 0); }

}  // namespace callgate::net
