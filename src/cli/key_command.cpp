// `callgate key`: works on the store itself, so that it also works while no gateway runs. Gateways look at the store
// several times a second.
#include <algorithm>
#include <iomanip>
#include <iostream>
#include <memory>
#include <string>

#include "access/key_secret.h"
#include "admin/key_json.h"
#include "admin/log_time.h"
#include "base/amount.h"
#include "cli/commands.h"
#include "cli/store_place.h"
#include "net/unix_time.h"
#include "store/migration.h"

namespace callgate::cli {
namespace {

using store::KeyTable;
using store::StoredKey;

struct KeyArguments {
  StorePlace place;
  bool as_json = false;
  StoredKey key;
  std::string expires;
  std::string grace = "0s";
};

int refuse_key(const std::string& message) {
  std::cerr << "callgate key: " << message << '\n';
  return 1;
}

// Names in the file are the file's. One that cannot be read has none here: the gateway looks as well.
bool is_in_file(const KeyArguments& arguments) {
  if (arguments.place.source.file.empty() && !arguments.place.url.empty()) return false;
  const auto config = load_place_config(arguments.place);
  return config && std::any_of(config->keys.begin(), config->keys.end(),
                               [&](const auto& key) { return key.name == arguments.key.name; });
}

void print_secret(const KeyArguments& arguments, const StoredKey& key, const Secret& secret) {
  if (arguments.as_json) {
    std::cout << server::print_key(key, net::unix_ms(), secret) << '\n';
    return;
  }
  std::cout << secret.reveal() << '\n';
  std::cerr << "This is the secret of key \"" << key.name
            << "\". It is not stored and cannot be shown again.\n";
}

int make_key(KeyArguments& arguments, KeyTable& table) {
  if (!arguments.expires.empty()) {
    const auto time = server::read_expiry(arguments.expires, net::unix_ms());
    if (!time) return refuse_key(time.error().message);
    arguments.key.expires_at = *time;
  }
  if (auto checked = server::check_new_key(arguments.key); !checked) {
    return refuse_key(checked.error().message);
  }
  if (is_in_file(arguments)) return refuse_key(server::key_name_taken(arguments.key.name).message);
  const Secret secret = server::make_key_secret();
  arguments.key.secret_hash = server::hash_of_secret(secret.reveal());
  const auto added = table.add(arguments.key);
  if (!added) return refuse_key(added.error().message);
  if (!*added) return refuse_key(server::key_name_taken(arguments.key.name).message);
  const auto key = table.get(arguments.key.name);
  print_secret(arguments, key && *key ? **key : arguments.key, secret);
  return 0;
}

int rotate_key(KeyArguments& arguments, KeyTable& table) {
  const auto grace = server::to_time(arguments.grace, 0);
  if (!grace || *grace > 0)
    return refuse_key("--grace: expected a time such as 90s, 15m, 12h or 7d");
  const Secret secret = server::make_key_secret();
  const std::string& name = arguments.key.name;
  const auto rotated = table.rotate(name, server::hash_of_secret(secret.reveal()), -*grace);
  if (!rotated) return refuse_key(rotated.error().message);
  if (!*rotated) return refuse_key(server::no_key(name).message + ", or it was revoked");
  const auto key = table.get(name);
  print_secret(arguments, key && *key ? **key : arguments.key, secret);
  return 0;
}

int revoke_key(KeyArguments& arguments, KeyTable& table) {
  const auto revoked = table.revoke(arguments.key.name);
  if (!revoked) return refuse_key(revoked.error().message);
  if (!*revoked) return refuse_key(server::no_key(arguments.key.name).message);
  std::cerr << "key \"" << arguments.key.name
            << "\" is revoked; gateways refuse it within a second\n";
  return 0;
}

int show_key(KeyArguments& arguments, KeyTable& table) {
  const auto key = table.get(arguments.key.name);
  if (!key) return refuse_key(key.error().message);
  if (!*key) return refuse_key(server::no_key(arguments.key.name).message);
  std::cout << server::print_key(**key, net::unix_ms()) << '\n';
  return 0;
}

std::string state_text(const StoredKey& key, std::int64_t now) {
  if (key.revoked_at != 0) return "revoked";
  if (key.expires_at == 0) return "active";
  return (now >= key.expires_at ? "expired " : "until ") +
         server::print_time(key.expires_at).substr(0, 10);
}

int list_keys(KeyArguments& arguments, KeyTable& table) {
  const auto keys = table.list();
  if (!keys) return refuse_key(keys.error().message);
  const std::int64_t now = net::unix_ms();
  std::size_t width = 4;
  for (const StoredKey& key : *keys) width = std::max(width, key.name.size());
  for (const StoredKey& key : *keys) {
    if (arguments.as_json) {
      std::cout << server::print_key(key, now) << '\n';
      continue;
    }
    std::cout << std::left << std::setw(static_cast<int>(width)) << key.name << "  "
              << std::setw(18) << state_text(key, now) << "  made "
              << server::print_time(key.created_at).substr(0, 10) << (key.admin ? "  admin" : "");
    if (!key.owner.empty()) std::cout << "  " << key.owner;
    std::cout << '\n';
  }
  return 0;
}

using KeyWork = int (*)(KeyArguments&, KeyTable&);

int with_keys(KeyArguments& arguments, KeyWork work) {
  const std::string url = find_store_url(arguments.place);
  if (url.empty()) return 1;
  if (url == "none") {
    return refuse_key(
        "keys cannot be stored: [store] url is none; write them as [[key]] into the file");
  }
  const auto database = store::open_migrated(url, {});
  if (!database) return refuse_key(store::shown_url(url) + ": " + database.error().message);
  KeyTable table(**database);
  return work(arguments, table);
}

CLI::App& add_work(CLI::App& command, int& exit_code, std::shared_ptr<KeyArguments> arguments,
                   const char* name, const char* help, KeyWork work) {
  CLI::App* action = command.add_subcommand(name, help);
  add_store_place(*action, arguments->place);
  action->add_flag("--json", arguments->as_json, "for machines: as the admin API writes keys");
  if (work != list_keys) {
    action->add_option("name", arguments->key.name, "name of the key")->required();
  }
  action->callback([arguments, work, &exit_code] { exit_code = with_keys(*arguments, work); });
  return *action;
}

void add_rights(CLI::App& command, KeyArguments& arguments) {
  StoredKey& key = arguments.key;
  command.add_option("--owner", key.owner, "who uses it, for people to read");
  command.add_option("--expires", arguments.expires,
                     "when it ends: 2027-01-31, 2027-01-31T12:00Z, 90d, 12h");
  command.add_option("--models", key.models, "glob patterns of models that it may use")
      ->delimiter(',')
      ->capture_default_str();
  command.add_option("--tools", key.tools, "glob patterns of tools that its loops may use")
      ->delimiter(',')
      ->capture_default_str();
  command.add_option("--deny-tools", key.deny_tools, "glob patterns of tools that they may not")
      ->delimiter(',');
  command.add_flag("--admin", key.admin, "may read the log and make keys");
  command.add_flag("!--no-log-content", key.log_content,
                   "the request log keeps no content of its requests");
  for (const auto& [name, limit] : server::key_limits()) {
    std::string option = "--" + std::string(name);
    std::replace(option.begin(), option.end(), '_', '-');
    command.add_option(option, key.*limit, "as in [[key]]; 0 means no limit")
        ->check(CLI::NonNegativeNumber);
  }
  for (const auto& [name, limit] : server::key_amounts()) {
    std::string option = "--" + std::string(name);
    std::replace(option.begin(), option.end(), '_', '-');
    command.add_option_function<std::string>(
        option,
        [&key, limit = limit](const std::string& text) {
          const auto amount = parse_amount(text);
          if (!amount) throw CLI::ValidationError("expected an amount such as 12.5");
          key.*limit = *amount;
        },
        "as in [[key]], in the currency of [[price]]");
  }
}

}  // namespace

void add_key(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("key", "Make, list, rotate and revoke keys of the store");
  command->require_subcommand(1);
  command->footer(
      "Gateways that use the store know of a change within a second. A gateway without [[key]] "
      "needs `require_key = true`.\n"
      "Example: callgate key new dev --owner ann@example.com --expires 90d");
  const auto arguments = [] { return std::make_shared<KeyArguments>(); };
  auto made = arguments();
  add_rights(
      add_work(*command, exit_code, made, "new", "Make a key and print its secret, once", make_key),
      *made);
  add_work(*command, exit_code, arguments(), "list", "List the keys", list_keys);
  add_work(*command, exit_code, arguments(), "show", "Show a key, as JSON", show_key);
  auto rotated = arguments();
  add_work(*command, exit_code, rotated, "rotate", "Give a key another secret and print it",
           rotate_key)
      .add_option("--grace", rotated->grace, "how long the former secret stays valid: 15m, 12h")
      ->capture_default_str();
  add_work(*command, exit_code, arguments(), "revoke", "End a key for good", revoke_key);
}

}  // namespace callgate::cli
