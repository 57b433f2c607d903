// What a command does with the person in front of it: questions whose answers are not shown, and programs that ask the
// person themselves.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "callgate/result.h"

namespace callgate::cli {

bool is_terminal(int descriptor);

// Asks on the terminal, and reads one line that is not shown as it is typed. Fails at its end.
Result<std::string> ask_hidden(int terminal, std::string_view question);

struct PersonalProgram {
  std::vector<std::string> command;                              // looked up in PATH
  std::vector<std::pair<std::string, std::string>> environment;  // beside ours
  std::size_t most_printed = 0;  // bytes of its output that are kept; 0: the person sees it instead
};

// Runs it to its end, with our terminal. Gives what it printed. Fails if it cannot run, or ends badly; the error never repeats
// what it printed.
Result<std::string> run_personally(const PersonalProgram& program);

}  // namespace callgate::cli
