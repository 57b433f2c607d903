// The sandbox of a program: it sees the system read-only, with a /tmp of its own, no processes but those that it starts,
// and no network. Made of the kernel's user, mount, process, network, IPC and host name spaces and a filter of system calls;
// no helper program is needed. Where the kernel does not permit it nothing runs.
//
//   callgate-sandbox NETWORK CPU MEMORY FILES FILE_BYTES COUNT FOLDER... PROGRAM ARG0 ARG1 ...
//
// Like the keeper (keeper.h) it is this same executable, started again under that name, and acts before main().
#pragma once

#include <string>
#include <vector>

namespace callgate::net {

inline constexpr const char* kSandboxName = "callgate-sandbox";

struct ProcessLimits;

struct SandboxOptions {
  std::vector<std::string> writable;  // folders, whole paths
  bool network = false;

  bool operator==(const SandboxOptions&) const = default;
};

// The arguments that start `command` in the sandbox, the first of which is kSandboxName. The limits are the program's: they
// do not bind what makes the sandbox.
std::vector<std::string> sandbox_command(const SandboxOptions& options, const ProcessLimits& limits,
                                         const std::string& program,
                                         const std::vector<std::string>& command);

// Why no program can run in such a sandbox here; empty: one can. Starts a process and waits for it.
std::string sandbox_fault(const SandboxOptions& options);

}  // namespace callgate::net
