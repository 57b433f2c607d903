// Which store a command works with: --url, or that of a configuration.
#pragma once

#include <string>
#include <string_view>

#include "cli/commands.h"
#include "config/config.h"

namespace callgate::cli {

struct StorePlace {
  std::string url;
  server::ConfigSource source;
};

void add_store_place(CLI::App& command, StorePlace& place);
// The configuration that it names, or that `serve` would find.
Result<server::Config> load_place_config(const StorePlace& place);
// Empty after a message about what is wrong.
std::string find_store_url(const StorePlace& place);
// A file that is not there. A look at it must not make it.
bool is_missing_store(std::string_view url);

}  // namespace callgate::cli
