#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>

#include "cli/commands.h"
#include "cli/config_init.h"
#include "cli/config_place.h"
#include "cli/probe.h"
#include "config/config.h"
#include "config/mistakes.h"
#include "config/tool_config.h"
#include "tool/host.h"

namespace callgate::cli {
namespace {

using server::Mistake;

struct CheckOptions {
  server::ConfigSource source;
  bool all = false;
  bool probe = false;
};

constexpr server::Milliseconds kProbeTime{10'000};

bool probe_upstreams(const server::Config& config) {
  bool fine = true;
  for (const server::UpstreamConfig& upstream : config.upstreams) {
    if (upstream.is_child() || upstream.is_scripted()) continue;
    if (upstream::model_list_path(upstream.wire).empty()) continue;
    std::cout << "# upstream " << upstream.name << ": ";
    const auto models = probe_upstream(upstream, kProbeTime);
    if (models) {
      std::cout << "answers, " << models->size() << " models\n";
    } else {
      std::cout << models.error().message << '\n';
      fine = false;
    }
  }
  return fine;
}

// Starts the servers of tools, and says what they say.
bool probe_tools(const server::Config& config) {
  if (config.tools.empty()) return true;
  const auto set = server::to_tool_set(config);
  if (!set) return false;
  auto host =
      tool::ToolHost::start(*set, [](std::string_view what) { std::cerr << "# " << what << '\n'; });
  if (!host) {
    std::cout << "# tools: " << host.error().message << '\n';
    return false;
  }
  const bool listed = (*host)->wait_until_listed(net::Millis(kProbeTime.count()));
  std::cout << "# tools: " << (listed ? "all servers answer" : "a server does not answer") << '\n';
  return listed;
}

std::string shown_name(const server::ConfigSource& source) {
  return source.file.empty() ? "defaults" : source.file;
}

// Prints the mistakes. False: the configuration cannot be served.
bool report(const std::vector<Mistake>& mistakes, const std::string& file) {
  if (mistakes.empty()) return true;
  std::cerr << server::to_text(mistakes, file) << '\n';
  std::size_t wrong = 0;
  for (const Mistake& mistake : mistakes) wrong += mistake.warning ? 0 : 1;
  return wrong == 0;
}

int check(CheckOptions options) {
  if (options.source.file.empty()) options.source.file = find_config_file();
  if (options.source.file.empty() && options.source.sets.empty()) {
    std::cerr << "there is no ./callgate.toml and no /etc/callgate/callgate.toml; name a file, or "
                 "write one with `callgate config init`\n";
    return 1;
  }
  server::ExaminedConfig examined = server::examine_config(options.source);
  const bool readable = examined.mistakes.empty();
  const auto add = [&](std::vector<Mistake> more) {
    for (Mistake& mistake : more) examined.mistakes.push_back(std::move(mistake));
  };
  add(server::find_missing_files(examined.config));
  add(server::find_golden_failures(examined.config));
  add(server::find_oddities(examined.config));
  if (readable && !server::serves_anything(examined.config)) {
    add({{.path = {},
          .message = "there is no [[model]], and no [[upstream]] with models: nothing "
                     "would be served"}});
  }
  server::locate(examined.mistakes, examined.lines);
  for (const std::string& notice : server::deprecations(examined.config)) {
    examined.mistakes.push_back({.path = {}, .message = notice, .warning = true});
  }
  if (!report(examined.mistakes, shown_name(options.source))) return 1;
  std::cout << (options.all ? server::print_config(examined.config)
                            : server::print_differences(examined.config));
  if (options.probe) {
    const bool upstreams = probe_upstreams(examined.config);
    if (!(probe_tools(examined.config) && upstreams)) return 1;
  }
  std::cout << "ok\n";
  return 0;
}

struct InitOptions {
  std::string file = "callgate.toml";
  std::string url;
  bool force = false;
};

FoundServer server_at(const std::string& url) {
  FoundServer found{.server = known_servers().front(), .url = url, .models = {}};
  for (const KnownServer& server : known_servers()) {
    if (url.starts_with(server.url)) found.server = server;
  }
  return found;
}

int init(const InitOptions& options) {
  const bool to_stdout = options.file == "-";
  if (!to_stdout && !options.force && std::filesystem::exists(options.file)) {
    std::cerr << options.file << " exists already; --force writes over it\n";
    return 1;
  }
  const auto found = options.url.empty() ? find_server() : std::optional(server_at(options.url));
  const std::string text = print_initial_config(
      found.value_or(server_at(std::string(known_servers().front().url))), found.has_value());
  if (to_stdout) {
    std::cout << text;
    return 0;
  }
  std::ofstream out(options.file, std::ios::binary);
  out << text;
  out.close();
  if (!out) {
    std::cerr << options.file << ": cannot be written\n";
    return 1;
  }
  std::cout << options.file << " is written"
            << (found ? " for " + std::string(found->server.title) + " at " + found->url : "")
            << "; start it with `callgate serve"
            << (options.file == kConfigPlaces.front() ? "" : " --config " + options.file) << "`\n";
  return 0;
}

}  // namespace

void add_config(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("config", "Work with configuration files");
  command->require_subcommand(1);
  CLI::App* checks = command->add_subcommand(
      "check", "Report every mistake in a file, and print what differs from the defaults");
  auto options = std::make_shared<CheckOptions>();
  checks->add_option("file", options->source.file,
                     "TOML file; ./callgate.toml or /etc/callgate/callgate.toml when absent");
  checks->add_option("--set", options->source.sets, "override a key: a.b=c (repeatable)");
  checks->add_flag("--all", options->all, "print every key, also those with their default");
  checks->add_flag("--probe", options->probe, "ask each upstream and each server of tools");
  checks->callback([options, &exit_code] { exit_code = check(*options); });

  CLI::App* inits = command->add_subcommand(
      "init", "Write a commented file for the model server that answers on this machine");
  auto wanted = std::make_shared<InitOptions>();
  inits->add_option("file", wanted->file, "where to; - for standard output")->capture_default_str();
  inits->add_option("--url", wanted->url, "the model server, instead of looking for one");
  inits->add_flag("--force", wanted->force, "write over a file that exists");
  inits->callback([wanted, &exit_code] { exit_code = init(*wanted); });

  CLI::App* schema =
      command->add_subcommand("schema", "Print the JSON Schema of the file, for editors");
  schema->callback([] { std::cout << server::print_schema(); });
}

}  // namespace callgate::cli
