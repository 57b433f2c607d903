#include "net/sandbox.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/mount.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "net/keeper.h"
#include "net/owned_fd.h"
#include "net/process.h"

namespace callgate::net {
namespace {

constexpr int kCannotSandbox = 126;
constexpr int kFirstLimit = 2;
constexpr int kFolderCount = 6;
constexpr int kFirstFolder = 7;
constexpr int kMostFolders = 64;
constexpr const char* kProbe = "-";  // as the program: nothing runs

#ifndef MOUNT_ATTR_RDONLY
#define MOUNT_ATTR_RDONLY 0x00000001
#define MOUNT_ATTR_NOSUID 0x00000002
#endif
#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442
#endif
constexpr unsigned kRecursive = 0x8000;  // AT_RECURSIVE

struct MountAttributes {  // struct mount_attr, which older headers lack
  std::uint64_t set = 0;
  std::uint64_t clear = 0;
  std::uint64_t propagation = 0;
  std::uint64_t user_namespace = 0;
};

[[noreturn]] void refuse(const char* step) {
  ::dprintf(2, "sandbox: %s: %s\n", step, std::strerror(errno));
  ::_exit(kCannotSandbox);
}

void write_file(const char* path, const char* text) {
  const int file = ::open(path, O_WRONLY | O_CLOEXEC);
  const auto size = static_cast<ssize_t>(std::strlen(text));
  if (file < 0 || ::write(file, text, static_cast<std::size_t>(size)) != size) refuse(path);
  ::close(file);
}

void enter_namespaces(bool network) {
  const uid_t user = ::getuid();
  const gid_t group = ::getgid();
  int spaces = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS;
  if (!network) spaces |= CLONE_NEWNET;
  if (::unshare(spaces) != 0) refuse("the kernel does not permit name spaces");
  std::array<char, 64> map{};
  write_file("/proc/self/setgroups", "deny");
  std::snprintf(map.data(), map.size(), "%u %u 1", user, user);
  write_file("/proc/self/uid_map", map.data());
  std::snprintf(map.data(), map.size(), "%u %u 1", group, group);
  write_file("/proc/self/gid_map", map.data());
}

void set_attributes(const char* path, const MountAttributes& attributes) {
  if (::syscall(SYS_mount_setattr, AT_FDCWD, path, kRecursive, &attributes, sizeof attributes) != 0)
    refuse(path);
}

// The folder and those above it, where the private /tmp lacks them.
void make_folders(const char* path) {
  std::array<char, PATH_MAX> part{};
  for (std::size_t i = 0; path[i] != 0 && i + 1 < part.size(); ++i) {
    if (i > 0 && path[i] == '/') ::mkdir(part.data(), 0755);
    part[i] = path[i];
  }
  ::mkdir(part.data(), 0755);
}

void mount_all(char** folders, int count) {
  std::array<int, kMostFolders> opened{};
  if (::mount("", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) refuse("/");
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i);
    opened[at] = ::open(folders[i], O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (opened[at] < 0) refuse(folders[i]);
  }
  set_attributes("/", {.set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID});
  constexpr const char* kSize = "mode=1777,size=256m";
  if (::mount("tmpfs", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, kSize) != 0) refuse("/tmp");
  ::mount("tmpfs", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, kSize);
  for (int i = 0; i < count; ++i) {
    std::array<char, 32> from{};
    std::snprintf(from.data(), from.size(), "/proc/self/fd/%d",
                  opened[static_cast<std::size_t>(i)]);
    make_folders(folders[i]);
    if (::mount(from.data(), folders[i], nullptr, MS_BIND | MS_REC, nullptr) != 0)
      refuse(folders[i]);
    set_attributes(folders[i], {.set = MOUNT_ATTR_NOSUID, .clear = MOUNT_ATTR_RDONLY});
  }
}

// System calls that have no business in a tool and have opened kernels before.
constexpr long kForbidden[] = {SYS_mount,
                               SYS_umount2,
                               SYS_pivot_root,
                               SYS_chroot,
                               SYS_unshare,
                               SYS_setns,
                               SYS_ptrace,
                               SYS_process_vm_readv,
                               SYS_process_vm_writev,
                               SYS_bpf,
                               SYS_perf_event_open,
                               SYS_userfaultfd,
                               SYS_keyctl,
                               SYS_add_key,
                               SYS_request_key,
                               SYS_init_module,
                               SYS_finit_module,
                               SYS_delete_module,
                               SYS_kexec_load,
                               SYS_open_by_handle_at,
                               SYS_name_to_handle_at,
                               425 /* io_uring_setup */,
                               428 /* open_tree */,
                               429 /* move_mount */,
                               430 /* fsopen */,
                               432 /* fsmount */,
                               442 /* mount_setattr */};
constexpr unsigned kNewSpaces = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET |
                                CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;
#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t kArchitecture = 0;  // no filter is known: nothing runs
#endif

void filter_calls(bool network) {
  if (kArchitecture == 0) {
    errno = ENOSYS;
    refuse("no filter of system calls for this processor");
  }
  std::array<sock_filter, 2 * std::size(kForbidden) + 20> filter{};
  unsigned short size = 0;
  const auto add = [&](unsigned code, std::uint32_t k, unsigned char yes, unsigned char no) {
    filter[size++] = {static_cast<std::uint16_t>(code), yes, no, k};
  };
  const auto load = [&](std::size_t at) {
    add(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(at), 0, 0);
  };
  const auto answer = [&](std::uint32_t with) { add(BPF_RET | BPF_K, with, 0, 0); };
  const auto is_call = [&](long number) {  // skips the next one unless it is
    add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(number), 0, 1);
  };
  load(offsetof(seccomp_data, arch));
  add(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0);
  answer(SECCOMP_RET_KILL_PROCESS);
  load(offsetof(seccomp_data, nr));
#if defined(__x86_64__)
  add(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1);  // the x32 table
  answer(SECCOMP_RET_ERRNO | ENOSYS);
#endif
  for (const long number : kForbidden) {
    is_call(number);
    answer(SECCOMP_RET_ERRNO | EPERM);
  }
  // A socket file of the system would lead out of a sandbox without network.
  if (!network) {
    is_call(SYS_socket);
    answer(SECCOMP_RET_ERRNO | EACCES);
  }
  is_call(SYS_clone3);  // its flags cannot be seen here; libraries fall back to clone
  answer(SECCOMP_RET_ERRNO | ENOSYS);
  add(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3);
  load(offsetof(seccomp_data, args));
  add(BPF_JMP | BPF_JSET | BPF_K, kNewSpaces, 0, 1);
  answer(SECCOMP_RET_ERRNO | EPERM);
  answer(SECCOMP_RET_ALLOW);
  sock_fprog program{.len = size, .filter = filter.data()};
  if (::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    refuse("the kernel does not permit a filter of system calls");
  }
}

void drop_rights() {
  for (int capability = 0; capability <= CAP_LAST_CAP; ++capability) {
    ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  }
  __user_cap_header_struct head{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  std::array<__user_cap_data_struct, 2> none{};
  if (::syscall(SYS_capset, &head, none.data()) != 0) refuse("capabilities");
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) refuse("no_new_privs");
}

[[noreturn]] void become_program(char** argv, char** environment, char** limits, bool network) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0) {
    refuse("/proc");
  }
  drop_rights();
  filter_calls(network);
  if (std::strcmp(argv[0], kProbe) == 0) ::_exit(0);
  limit_self(limits);
  ::execve(argv[0], argv + 1, environment);
  ::dprintf(2, "cannot run %s in the sandbox: %s\n", argv[0], std::strerror(errno));
  ::_exit(127);
}

// Ends as the program did.
[[noreturn]] void end_like(int status) {
  if (WIFEXITED(status)) ::_exit(WEXITSTATUS(status));
  const rlimit none{};
  ::setrlimit(RLIMIT_CORE, &none);
  ::signal(WTERMSIG(status), SIG_DFL);
  ::kill(::getpid(), WTERMSIG(status));
  ::_exit(128 + WTERMSIG(status));
}

[[noreturn]] void enclose(int argc, char** argv, char** environment) {
  const bool network = argv[1][0] == '1';
  const int count = std::atoi(argv[kFolderCount]);
  if (count < 0 || count > kMostFolders || argc < kFirstFolder + count + 1) {
    errno = EINVAL;
    refuse("too many folders");
  }
  std::array<char, PATH_MAX> here{};
  if (::getcwd(here.data(), here.size()) == nullptr) here[0] = 0;
  enter_namespaces(network);
  mount_all(argv + kFirstFolder, count);
  // A folder that the private /tmp hides is none.
  if (::chdir(here.data()) != 0 && ::chdir("/tmp") != 0) refuse(here.data());
  const pid_t program = ::fork();
  if (program < 0) refuse("fork");
  if (program == 0) {
    become_program(argv + kFirstFolder + count, environment, argv + kFirstLimit, network);
  }
  int status = 0;
  while (::waitpid(program, &status, 0) < 0 && errno == EINTR) {
  }
  end_like(status);
}

[[gnu::constructor]] void enclose_if_asked(int argc, char** argv, char** environment) {
  if (argc <= kFirstFolder || std::strcmp(argv[0], kSandboxName) != 0) return;
  enclose(argc, argv, environment);
}

}  // namespace

std::vector<std::string> sandbox_command(const SandboxOptions& options, const ProcessLimits& limits,
                                         const std::string& program,
                                         const std::vector<std::string>& command) {
  std::vector<std::string> all = {kSandboxName, options.network ? "1" : "0"};
  const std::vector<std::string> words = limit_words(limits);
  all.insert(all.end(), words.begin(), words.end());
  all.push_back(std::to_string(options.writable.size()));
  all.insert(all.end(), options.writable.begin(), options.writable.end());
  all.push_back(program);
  all.insert(all.end(), command.begin(), command.end());
  return all;
}

std::string sandbox_fault(const SandboxOptions& options) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return std::strerror(errno);
  const OwnedFd read(ends[0]);
  OwnedFd write(ends[1]);
  std::vector<std::string> command = sandbox_command(options, {}, kProbe, {kProbe});
  std::vector<char*> arguments;
  for (std::string& each : command) arguments.push_back(each.data());
  arguments.push_back(nullptr);
  std::array<char*, 1> environment{nullptr};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, write.get(), 2);
  pid_t pid = -1;
  const int fault = ::posix_spawn(&pid, "/proc/self/exe", &actions, nullptr, arguments.data(),
                                  environment.data());
  ::posix_spawn_file_actions_destroy(&actions);
  if (fault != 0) return std::strerror(fault);
  write = OwnedFd();
  std::string words(512, '\0');
  std::size_t size = 0;
  for (ssize_t got = 1; got > 0 && size < words.size();) {
    got = ::read(read.get(), words.data() + size, words.size() - size);
    size += got > 0 ? static_cast<std::size_t>(got) : 0;
  }
  words.resize(size);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  while (words.ends_with('\n')) words.pop_back();
  return words.empty() ? "sandbox: it cannot be made here" : words;
}

}  // namespace callgate::net
