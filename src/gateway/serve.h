// `callgate serve`: builds the world, listens, reloads, drains.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "callgate/result.h"
#include "config/config.h"

namespace callgate::server {

struct ServeOptions {
  ConfigSource source;
  std::vector<std::string> listen;  // replaces the configuration's when not empty
  // Changes what the file and its overrides say, at the start and at each reload, before it is checked.
  std::function<void(Config&)> amend;
  // What to print below the address that was bound.
  std::function<std::string(std::string_view url)> greet;
};

// The effective configuration: file, overrides, --listen, amendments.
Result<Config> load_serve_config(const ServeOptions& options);

// Serves until SIGINT or SIGTERM and all streams ended. Prints `listening on ...` when ready.
Result<void> run_serve(const ServeOptions& options);

}  // namespace callgate::server
