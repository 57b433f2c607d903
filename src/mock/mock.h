// `callgate mock`: the scripted model as a server of its own, for tests and benches of anything.
#pragma once

#include <cstdint>
#include <string>

#include "callgate/result.h"

namespace callgate::server {

struct MockOptions {
  std::string script;  // a file; empty: the demo model
  std::string listen = "127.0.0.1:8081";
  std::int64_t threads = 1;
};

// Serves until SIGINT or SIGTERM. Prints `listening on ...` when ready.
Result<void> run_mock(const MockOptions& options);

}  // namespace callgate::server
