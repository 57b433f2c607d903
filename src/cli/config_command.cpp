#include <iostream>
#include <memory>

#include "cli/commands.h"
#include "config/config.h"

namespace callgate::cli {

void add_config(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("config", "Work with configuration files");
  command->require_subcommand(1);
  CLI::App* check = command->add_subcommand(
      "check", "Validate a file and print the effective configuration, secrets masked");
  auto source = std::make_shared<server::ConfigSource>();
  check->add_option("file", source->file, "TOML file")->required();
  check->add_option("--set", source->sets, "override a key: a.b=c (repeatable)");
  check->callback([source, &exit_code] {
    const auto config = server::load_config(*source);
    if (!config) {
      std::cerr << config.error().message << '\n';
      exit_code = 1;
      return;
    }
    for (const std::string& notice : server::deprecations(*config)) {
      std::cerr << "warning: " << notice << '\n';
    }
    std::cout << server::print_config(*config);
  });
}

}  // namespace callgate::cli
