#include <CLI/CLI.hpp>

#include "callgate/version.h"
#include "cli/commands.h"

int main(int argc, char** argv) {
  CLI::App app("Callgate, the streaming tool-call gateway.", "callgate");
  app.set_version_flag("--version", callgate::kVersion);
  app.require_subcommand(1);
  app.footer(
      "`callgate COMMAND --help` tells more. `callgate serve --demo` needs no configuration.");
  int exit_code = 0;
  callgate::cli::add_serve(app, exit_code);
  callgate::cli::add_mock(app, exit_code);
  callgate::cli::add_parse(app, exit_code);
  callgate::cli::add_replay(app, exit_code);
  callgate::cli::add_dialects(app, exit_code);
  callgate::cli::add_smoke(app, exit_code);
  callgate::cli::add_config(app, exit_code);
  callgate::cli::add_store(app, exit_code);
  callgate::cli::add_log(app, exit_code);
  callgate::cli::add_completion(app, exit_code);
  CLI11_PARSE(app, argc, argv);
  return exit_code;
}
