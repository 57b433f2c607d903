// Process: a child program with its standard streams on a loop. No shell is involved, the child gets the environment it
// is given and no descriptor but its three streams. A keeper (keeper.h) stands between: whatever the child starts ends with
// it, also what left its group or session, and all of it ends with us.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "callgate/result.h"
#include "net/loop.h"
#include "net/owned_fd.h"
#include "net/pipe.h"
#include "net/sandbox.h"
#include "net/task.h"

namespace callgate::net {

// What the child and all it starts may use, each for itself; 0: as much as we may.
struct ProcessLimits {
  std::uint64_t cpu_seconds = 0;   // then the kernel kills it
  std::uint64_t memory_bytes = 0;  // of address space
  std::uint64_t open_files = 0;
  std::uint64_t file_bytes = 0;  // of the largest file that it may write

  bool operator==(const ProcessLimits&) const = default;
};

struct ProcessOptions {
  std::vector<std::string> command;  // a program, looked up in PATH, and its arguments
  std::vector<std::pair<std::string, std::string>> environment;  // all of it
  std::string folder;                                            // to run in; empty: ours
  std::size_t last_words = 4096;  // bytes of its standard error that are kept, the last ones
  ProcessLimits limits;
  std::optional<SandboxOptions> sandbox = {};  // to run it in; it does not run without
};

class Process {
 public:
  // Fails when the program cannot be run.
  static Result<std::unique_ptr<Process>> start(Loop& loop, const ProcessOptions& options);
  // Kills the whole tree, and waits a moment for that.
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  Pipe& input() { return input_; }    // its standard input
  Pipe& output() { return output_; }  // its standard output

  // A signal for the child's group; SIGKILL is one for all it started.
  void signal(int number);
  // True once the child has ended and nothing is left of what it started. One waiter at a time.
  Task<bool> wait(Millis timeout);
  // How it ended, in words, such as `exit status 1` or `signal 9`; empty while it runs.
  const std::string& ending() const { return ending_; }
  // The end of what it wrote to its standard error.
  std::string_view last_words();
  // The keeper's.
  pid_t pid() const { return pid_; }

 private:
  Process(Loop& loop, pid_t pid, int input, int output, int errors, int exit_watch, OwnedFd control,
          std::size_t last_words);
  void watch_errors();
  void drain_errors();
  bool reap();

  const pid_t pid_;
  Pipe input_;
  Pipe output_;
  Pipe errors_;
  Descriptor exit_watch_;  // becomes readable when the keeper ends
  OwnedFd control_;        // of the keeper; when it closes, the tree ends
  std::size_t most_last_words_;
  std::string last_words_;
  std::string ending_;
};

// What a child program may see of our environment: where programs, homes and temporary files are, language and time
// zone. Keys and tokens are passed by name, on purpose.
std::vector<std::pair<std::string, std::string>> plain_environment();

}  // namespace callgate::net
