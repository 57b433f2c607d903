#include "cli/app.h"

#include <iostream>

#include "callgate/version.h"
#include "cli/commands.h"
#include "cli/word_advice.h"

namespace callgate::cli {

int run(int argc, const char* const* argv) {
  CLI::App app("Callgate, the streaming tool-call gateway.", "callgate");
  app.set_version_flag("--version", kVersion);
  app.require_subcommand(1);
  app.footer(
      "`callgate COMMAND --help` tells more. `callgate serve --demo` needs no configuration.");
  int exit_code = 0;
  add_serve(app, exit_code);
  add_mock(app, exit_code);
  add_parse(app, exit_code);
  add_replay(app, exit_code);
  add_dialects(app, exit_code);
  add_smoke(app, exit_code);
  add_config(app, exit_code);
  add_store(app, exit_code);
  add_log(app, exit_code);
  add_key(app, exit_code);
  add_login(app, exit_code);
  add_usage(app, exit_code);
  add_loops(app, exit_code);
  add_tools(app, exit_code);
  add_completion(app, exit_code);
  add_manual(app, exit_code);
  add_version(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const bool failed = error.get_exit_code() != 0;
    const std::string advice = failed ? advise_on_words(app, argc, argv) : std::string();
    if (advice.empty()) return app.exit(error);
    std::cerr << "callgate: " << advice << "\nRun with --help for more information.\n";
    return error.get_exit_code();
  }
  return exit_code;
}

}  // namespace callgate::cli
