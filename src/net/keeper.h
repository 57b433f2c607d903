// The keeper: a small process between the gateway and a child program. The kernel hands it every descendant that loses its
// parent (PR_SET_CHILD_SUBREAPER), also after setsid() and a double fork, so it can end the whole tree, and it outlives the
// gateway by the moment that this takes when the gateway itself is killed.
//
//   callgate-keeper FOLDER CPU MEMORY FILES FILE_BYTES PROGRAM ARG0 ARG1 ...
//
// It is this same executable, started again as `kKeeperName`; it acts before main() and knows nothing of the gateway's
// memory and environment. Its standard streams are those of the program. Descriptor 3 is its control: each byte that comes is
// a signal for the program's group, SIGKILL one for the whole tree, and the end of it means that the gateway is gone.
#pragma once

#include <string>
#include <vector>

namespace callgate::net {

struct ProcessOptions;
struct ProcessLimits;

inline constexpr const char* kKeeperName = "callgate-keeper";
inline constexpr int kKeeperControl = 3;

// How to start the keeper for a program.
std::vector<std::string> keeper_command(const ProcessOptions& options, const std::string& program);

// Four words: the CPU seconds, bytes of memory, open files and bytes of a file that this process may use from now on; 0: as
// before.
void limit_self(char** words);
std::vector<std::string> limit_words(const ProcessLimits& limits);

// Keeps what this process has in memory and in its environment from programs of the same user: its memory is not dumpable,
// so that /proc/PID/environ, /proc/PID/mem and ptrace() are closed to them. Costs core dumps.
void close_memory_to_others();

}  // namespace callgate::net
