// `callgate serve`: builds the world, listens, reloads, drains.
#pragma once

#include <string>
#include <vector>

#include "callgate/result.h"
#include "server/config.h"

namespace callgate::server {

struct ServeOptions {
  ConfigSource source;
  std::vector<std::string> listen;  // replaces the configuration's when not empty
  bool demo = false;                // adds the demo upstream and models
};

// The effective configuration: file, overrides, demo, --listen.
Result<Config> load_serve_config(const ServeOptions& options);

// Serves until SIGINT or SIGTERM and all streams ended. Prints `listening on ...` when ready.
Result<void> run_serve(const ServeOptions& options);

}  // namespace callgate::server
