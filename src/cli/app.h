// The command line as a whole.
#pragma once

namespace callgate::cli {

// Runs the command that the arguments name and returns the exit code of the process. A command that the arguments get
// wrong is not run: the mistake is on standard error, and the exit code is above 100.
int run(int argc, const char* const* argv);

}  // namespace callgate::cli
