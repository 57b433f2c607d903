// The subcommands. Each adds itself to the application; running one sets the exit code.
#pragma once

#include <CLI/CLI.hpp>

namespace callgate::cli {

void add_serve(CLI::App& app, int& exit_code);
void add_mock(CLI::App& app, int& exit_code);
void add_parse(CLI::App& app, int& exit_code);
void add_replay(CLI::App& app, int& exit_code);
void add_dialects(CLI::App& app, int& exit_code);
void add_smoke(CLI::App& app, int& exit_code);
void add_config(CLI::App& app, int& exit_code);
void add_store(CLI::App& app, int& exit_code);
void add_log(CLI::App& app, int& exit_code);
void add_key(CLI::App& app, int& exit_code);
void add_login(CLI::App& app, int& exit_code);
void add_usage(CLI::App& app, int& exit_code);
void add_loops(CLI::App& app, int& exit_code);
void add_tools(CLI::App& app, int& exit_code);
void add_completion(CLI::App& app, int& exit_code);
void add_manual(CLI::App& app, int& exit_code);
void add_version(CLI::App& app, int& exit_code);

}  // namespace callgate::cli
