// What may follow an option on the command line: for completion scripts and the manual.
#pragma once

#include <string>
#include <vector>

#include "cli/commands.h"

namespace callgate::cli {

// The words that an option takes, in their order; empty if it takes any.
std::vector<std::string> values_of(const CLI::Option& option);

// The options of a command that are shown: all but those without a name.
std::vector<const CLI::Option*> shown_options(const CLI::App& app);
std::vector<const CLI::App*> commands_of(const CLI::App& app);

}  // namespace callgate::cli
