#include <filesystem>
#include <iostream>
#include <memory>

#include "cli/commands.h"
#include "cli/config_place.h"
#include "gateway/serve.h"
#include "mock/demo.h"
#include "mock/mock.h"
#include "mock/mock_stdio.h"

namespace callgate::cli {
namespace {

int report(const Result<void>& result) {
  if (result) return 0;
  std::cerr << "callgate: " << result.error().message << '\n';
  return 1;
}

void add_all_demos(server::Config& config) {
  std::error_code absent;  // a root without /proc
  const auto program = std::filesystem::read_symlink("/proc/self/exe", absent);
  if (!absent) server::add_codex_demo(config, program);
  server::add_demo(config);
}

}  // namespace

void add_serve(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("serve", "Run the gateway");
  auto options = std::make_shared<server::ServeOptions>();
  command->add_option(
      "--config", options->source.file,
      "TOML file, see docs/config.md; ./callgate.toml or /etc/callgate/callgate.toml when absent");
  command->add_option(
      "--listen", options->listen,
      "address instead of the configuration's: host:port or unix:/path (repeatable)");
  command->add_option("--set", options->source.sets, "override a key: a.b=c (repeatable)");
  auto demo = std::make_shared<bool>(false);
  command->add_flag("--demo", *demo, "add the scripted demo models");
  command->footer("SIGHUP reloads the file. SIGTERM drains; a second one stops at once.");
  command->callback([options, demo, &exit_code] {
    if (options->source.file.empty() && !*demo) {
      options->source.file = find_config_file();
      if (!options->source.file.empty()) std::cerr << "using " << options->source.file << '\n';
    }
    if (*demo) {
      options->amend = add_all_demos;
      options->greet = server::demo_greeting;
    }
    exit_code = report(server::run_serve(*options));
  });
}

void add_mock(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("mock", "Run the scripted model as a server");
  auto options = std::make_shared<server::MockOptions>();
  command->add_option("--script", options->script,
                      "script file, see docs/script.md; the demo model when absent");
  command->add_option("--listen", options->listen, "host:port or unix:/path")
      ->capture_default_str();
  command->add_option("--threads", options->threads, "event loops")->capture_default_str();
  auto stdio = std::make_shared<server::MockStdioOptions>();
  command->add_option("--stdio", stdio->wire,
                      "be the child program codex_app_server or codex_proto instead of a server");
  command->add_option("--record", stdio->record, "with --stdio: append what comes in to this file");
  command->callback([options, stdio, &exit_code] {
    stdio->script = options->script;
    exit_code =
        report(stdio->wire.empty() ? server::run_mock(*options) : server::run_mock_stdio(*stdio));
  });
}

}  // namespace callgate::cli
