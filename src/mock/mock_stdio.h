// `callgate mock --stdio WIRE`: the scripted model as the child program that codex would be, on standard input and
// output. For tests and demos without codex.
#pragma once

#include <string>

#include "callgate/result.h"

namespace callgate::server {

struct MockStdioOptions {
  std::string wire;    // codex_app_server or codex_proto
  std::string script;  // a file; empty: the demo model
  std::string record;  // a file that gets every line that comes in; empty: none
};

// Talks until its input ends. An error also when the script ended it: `close` and `abort` crash the program.
Result<void> run_mock_stdio(const MockStdioOptions& options);

}  // namespace callgate::server
