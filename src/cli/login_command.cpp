// `callgate login`: gets the credential of an upstream from a person or a program, and keeps it in the upstream's key_file. A
// running gateway reads that file again by itself.
#include <unistd.h>

#include <iostream>
#include <iterator>
#include <string>

#include "cli/commands.h"
#include "cli/config_place.h"
#include "cli/private_file.h"
#include "cli/probe.h"
#include "cli/terminal.h"
#include "config/config.h"
#include "config/config_text.h"
#include "dial/credential/key_reply.h"
#include "json/writer.h"
#include "net/unix_time.h"
#include "upstream/model_list.h"

namespace callgate::cli {
namespace {

using server::UpstreamConfig;

struct LoginArguments {
  server::ConfigSource source;
  std::string upstream;
};

constexpr server::Milliseconds kLoginProbeTime{10'000};

int refuse_login(const std::string& message) {
  std::cerr << "callgate login: " << message << '\n';
  return 1;
}

std::string unknown_upstream(const server::Config& config, const std::string& name) {
  std::vector<std::string_view> names;
  std::string all;
  for (const UpstreamConfig& upstream : config.upstreams) {
    names.push_back(upstream.name);
    all += (all.empty() ? "" : ", ") + upstream.name;
  }
  if (all.empty()) return "the configuration has no [[upstream]]";
  return "unknown upstream \"" + name + "\"" + server::suggestion(name, names) +
         "\nthe configuration has " + all;
}

// What the web chat wants of a logged-in browser.
Result<std::string> ask_for_browser() {
  std::cerr << "Copy these from a logged-in browser: its developer tools show the headers of a "
               "request to the chat.\n";
  auto token =
      ask_hidden(STDIN_FILENO, "token, as in `authorization: Bearer` (empty for a guest): ");
  if (!token) return token;
  std::string text;
  json::ObjectWriter object(text);
  if (!token->empty()) object.string("token", *token);
  json::ObjectWriter headers(object.key("headers"));
  for (const char* name : {"cookie", "bx-ua", "bx-umidtoken"}) {
    auto value = ask_hidden(STDIN_FILENO, std::string(name) + " (empty for none): ");
    if (!value) return value;
    if (!value->empty()) headers.string(name, *value);
  }
  headers.close();
  object.close();
  return text;
}

Result<std::string> get_credential(const UpstreamConfig& upstream) {
  if (!upstream.login_command.empty()) {
    return run_personally({.command = upstream.login_command,
                           .environment = {},
                           .most_printed = server::kMostKeyReply});
  }
  if (!is_terminal(STDIN_FILENO)) return std::string(std::istreambuf_iterator<char>(std::cin), {});
  if (upstream.wire == "qwen_web") return ask_for_browser();
  return ask_hidden(STDIN_FILENO, "credential of upstream \"" + upstream.name + "\": ");
}

// The program keeps what it learns where it finds it again.
int log_in_child(const UpstreamConfig& upstream) {
  PersonalProgram program{.command = upstream.login_command, .environment = upstream.env};
  if (program.command.empty()) program.command = {upstream.command.front(), "login"};
  const auto done = run_personally(program);
  if (!done) return refuse_login(done.error().message);
  std::cerr << "upstream \"" << upstream.name << "\" is logged in\n";
  return 0;
}

// Whether the upstream takes it, where that can be asked for free.
int try_credential(const UpstreamConfig& upstream) {
  if (upstream::model_list_path(upstream.wire).empty()) return 0;
  const auto models = probe_upstream(upstream, kLoginProbeTime);
  if (!models) return refuse_login("it is kept, but " + models.error().message);
  std::cerr << "upstream \"" << upstream.name << "\" takes it and lists " << models->size()
            << " models\n";
  return 0;
}

int log_in(const UpstreamConfig& upstream) {
  if (upstream.is_scripted()) return refuse_login("the built-in model needs no login");
  if (upstream.is_child()) return log_in_child(upstream);
  if (upstream.key_file.empty()) {
    return refuse_login("upstream \"" + upstream.name +
                        "\" has no place for a credential: give its [[upstream]] a key_file, such "
                        "as key_file = \"/var/lib/callgate/" +
                        upstream.name + ".key\"");
  }
  const auto text = get_credential(upstream);
  if (!text) return refuse_login(text.error().message);
  if (const auto read = server::read_key_reply(*text, net::unix_ms()); !read) {
    return refuse_login(read.error().message);
  }
  if (const auto kept = write_private_file(upstream.key_file, *text); !kept) {
    return refuse_login(kept.error().message);
  }
  std::cerr << "the credential is in " << upstream.key_file
            << ", which only you can read; a running gateway uses it from now on\n";
  return try_credential(upstream);
}

int find_and_log_in(LoginArguments arguments) {
  if (arguments.source.file.empty()) arguments.source.file = find_config_file();
  const auto config = server::load_config(arguments.source);
  if (!config) {
    std::cerr << config.error().message << '\n';
    return 1;
  }
  const UpstreamConfig* const upstream = config->find_upstream(arguments.upstream);
  if (upstream == nullptr) return refuse_login(unknown_upstream(*config, arguments.upstream));
  return log_in(*upstream);
}

}  // namespace

void add_login(CLI::App& app, int& exit_code) {
  CLI::App* login = app.add_subcommand("login", "Log in to an upstream, and keep its credential");
  auto arguments = std::make_shared<LoginArguments>();
  login->add_option("upstream", arguments->upstream, "name of an [[upstream]]")->required();
  login->add_option("--config", arguments->source.file,
                    "TOML file; found as `serve` finds it when absent");
  login->add_option("--set", arguments->source.sets, "override a key: a.b=c (repeatable)");
  login->footer(
      "Runs the upstream's login_command, or for codex_* the program's own `login`. Otherwise asks "
      "for the\ncredential, or reads it from standard input. It goes into the upstream's "
      "key_file.");
  login->callback([arguments, &exit_code] { exit_code = find_and_log_in(*arguments); });
}

}  // namespace callgate::cli
