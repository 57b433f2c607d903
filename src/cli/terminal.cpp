#include "cli/terminal.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "net/owned_fd.h"

extern char** environ;

namespace callgate::cli {
namespace {

// The terminal shows nothing of what is typed while it lives.
class Unseen {
 public:
  explicit Unseen(int terminal) : terminal_(terminal) {
    termios now{};
    if (::tcgetattr(terminal, &now) != 0) return;
    before_ = now;
    now.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    now.c_lflag |= ECHONL;
    ::tcsetattr(terminal, TCSAFLUSH, &now);
  }
  ~Unseen() {
    if (before_) ::tcsetattr(terminal_, TCSAFLUSH, &*before_);
  }
  Unseen(const Unseen&) = delete;
  Unseen& operator=(const Unseen&) = delete;

 private:
  const int terminal_;
  std::optional<termios> before_;
};

std::vector<std::string> environment_with(
    const std::vector<std::pair<std::string, std::string>>& more) {
  std::vector<std::string> all;
  for (char** variable = environ; *variable != nullptr; ++variable) all.emplace_back(*variable);
  for (const auto& [name, value] : more) {
    const std::string begin = name + "=";
    std::erase_if(all, [&](const std::string& variable) { return variable.starts_with(begin); });
    all.push_back(begin + value);
  }
  return all;
}

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// All of it is read, so that the program can end.
std::string read_to_end(int descriptor, std::size_t most) {
  std::string text;
  char bytes[4096];
  for (;;) {
    const ssize_t count = ::read(descriptor, bytes, sizeof bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    if (text.size() <= most) text.append(bytes, static_cast<std::size_t>(count));
  }
}

Result<void> wait_for(pid_t child, const std::string& name) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return fail(ErrorCode::unavailable,
              WIFEXITED(status)
                  ? name + " ended with exit status " + std::to_string(WEXITSTATUS(status))
                  : name + " ended with signal " + std::to_string(WTERMSIG(status)));
}

}  // namespace

bool is_terminal(int descriptor) { return ::isatty(descriptor) == 1; }

Result<std::string> ask_hidden(int terminal, std::string_view question) {
  const Unseen unseen(terminal);
  (void)!::write(terminal, question.data(), question.size());
  std::string line;
  for (char byte = 0;;) {
    const ssize_t count = ::read(terminal, &byte, 1);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return fail(ErrorCode::invalid_request, "nothing was typed");
    if (byte == '\n') return line;
    line.push_back(byte);
  }
}

Result<std::string> run_personally(const PersonalProgram& program) {
  const std::string& name = program.command.front();
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  net::OwnedFd reads;
  net::OwnedFd writes;
  if (program.most_printed > 0) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return fail(ErrorCode::internal, std::strerror(errno));
    reads = net::OwnedFd(ends[0]);
    writes = net::OwnedFd(ends[1]);
    ::posix_spawn_file_actions_adddup2(&actions, writes.get(), STDOUT_FILENO);
  }
  const std::vector<std::string> environment = environment_with(program.environment);
  pid_t child = 0;
  const int failed =
      ::posix_spawnp(&child, name.c_str(), &actions, nullptr, pointers_to(program.command).data(),
                     pointers_to(environment).data());
  ::posix_spawn_file_actions_destroy(&actions);
  writes = net::OwnedFd();
  if (failed != 0) return fail(ErrorCode::unavailable, name + ": " + std::strerror(failed));
  std::string printed;
  if (program.most_printed > 0) printed = read_to_end(reads.get(), program.most_printed);
  if (auto ended = wait_for(child, name); !ended) return tl::unexpected(ended.error());
  if (printed.size() > program.most_printed) {
    return fail(ErrorCode::unavailable, name + " printed too much for a credential");
  }
  return printed;
}

}  // namespace callgate::cli
