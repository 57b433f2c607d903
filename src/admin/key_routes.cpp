// GET and POST /v1/keys, GET and DELETE /v1/keys/NAME, POST /v1/keys/NAME/rotate.
#include "access/key_book.h"
#include "access/key_secret.h"
#include "admin/admin_routes.h"
#include "admin/key_json.h"
#include "base/url_query.h"
#include "front/admission.h"
#include "net/unix_time.h"

namespace callgate::server {
namespace {

constexpr std::string_view kKeyPath = "/v1/keys/";
constexpr std::string_view kRotatePath = "/rotate";
// What changes keys waits for each other.
constexpr const char* kKeyLane = "keys";

using Tables = store::Sessions::Tables;

Error no_key_store() {
  return {.code = ErrorCode::not_found,
          .message =
              "keys cannot be stored: [store] url is none; write them as [[key]] into the "
              "configuration"};
}

std::string key_name_of(const Ask& ask) {
  std::string_view rest = ask.exchange.head().path.substr(kKeyPath.size());
  if (rest.ends_with(kRotatePath)) rest.remove_suffix(kRotatePath.size());
  return percent_decoded(rest);
}

const KeyConfig* find_file_key(const Ask& ask, std::string_view name) {
  for (const KeyConfig& key : ask.snapshot->config.keys) {
    if (key.name == name) return &key;
  }
  return nullptr;
}

Error is_file_key(std::string_view name) {
  return {.code = ErrorCode::conflict,
          .message = "the key \"" + std::string(name) +
                     "\" is in the configuration file: change it there, and reload",
          .param = "name"};
}

net::Task<> respond_key(Ask& ask, int status, std::string body) {
  ask.headers.add("cache-control", "no-store");
  co_await respond_json(ask, status, body);
}

net::Task<> list_keys(Desk& desk, Ask& ask) {
  store::Sessions* sessions = desk.world.conversations.answers.store();
  Result<std::vector<store::StoredKey>> keys;
  if (sessions != nullptr) {
    const auto query = [](Tables& tables) { return tables.keys.list(); };
    keys = co_await sessions->ask(desk.loop, kKeyLane, query);
  }
  if (!keys) co_return co_await desk.refuse(ask, keys.error());
  std::string body = "{\"object\":\"list\",\"data\":[";
  const auto add = [&body](const std::string& key) {
    if (body.back() != '[') body += ',';
    body += key;
  };
  for (const KeyConfig& key : ask.snapshot->config.keys) add(print_file_key(key));
  for (const store::StoredKey& key : *keys) add(print_key(key, net::unix_ms()));
  co_await respond_key(ask, 200, body + "]}");
}

net::Task<> show_key(Desk& desk, Ask& ask) {
  const std::string name = key_name_of(ask);
  if (const KeyConfig* key = find_file_key(ask, name)) {
    co_return co_await respond_key(ask, 200, print_file_key(*key));
  }
  store::Sessions* sessions = desk.world.conversations.answers.store();
  Result<std::optional<store::StoredKey>> key = tl::unexpected(no_key_store());
  if (sessions != nullptr) {
    const auto query = [name](Tables& tables) { return tables.keys.get(name); };
    key = co_await sessions->ask(desk.loop, kKeyLane, query);
    if (key && !*key) key = tl::unexpected(no_key(name));
  }
  if (!key) co_return co_await desk.refuse(ask, key.error());
  co_await respond_key(ask, 200, print_key(**key, net::unix_ms()));
}

// Gives the key as it is now, or nothing when `change` found no key to change.
template <class Change>
net::Task<Result<std::optional<store::StoredKey>>> change_key(Desk& desk, std::string name,
                                                              Change change) {
  store::Sessions* sessions = desk.world.conversations.answers.store();
  if (sessions == nullptr) {
    Error error = no_key_store();
    co_return tl::unexpected(std::move(error));
  }
  const auto query = [name,
                      change](Tables& tables) -> store::Attempt<std::optional<store::StoredKey>> {
    const store::Attempt<bool> changed = change(tables.keys);
    if (!changed) return tl::unexpected(changed.error());
    if (!*changed) return std::nullopt;
    return tables.keys.get(name);
  };
  auto key = co_await sessions->ask(desk.loop, kKeyLane, query);
  // This gateway knows at once, others with their next look.
  sessions->tick_soon();
  co_return key;
}

net::Task<> make_key(Desk& desk, Ask& ask) {
  const auto body = co_await read_body(desk.world, ask);
  if (!body) co_return co_await desk.refuse(ask, body.error());
  auto wanted = read_new_key(*body, net::unix_ms());
  if (!wanted) co_return co_await desk.refuse(ask, wanted.error());
  const Secret secret = make_key_secret();
  wanted->secret_hash = hash_of_secret(secret.reveal());
  Result<std::optional<store::StoredKey>> key = tl::unexpected(key_name_taken(wanted->name));
  if (find_file_key(ask, wanted->name) == nullptr) {
    const auto add = [wanted = *wanted](store::KeyTable& keys) { return keys.add(wanted); };
    key = co_await change_key(desk, wanted->name, add);
    if (key && !*key) key = tl::unexpected(key_name_taken(wanted->name));
  }
  if (!key) co_return co_await desk.refuse(ask, key.error());
  co_await respond_key(ask, 201, print_key(**key, net::unix_ms(), secret));
}

net::Task<> rotate_key(Desk& desk, Ask& ask) {
  const auto body = co_await read_body(desk.world, ask);
  if (!body) co_return co_await desk.refuse(ask, body.error());
  const auto grace = read_grace(*body);
  if (!grace) co_return co_await desk.refuse(ask, grace.error());
  const std::string name = key_name_of(ask);
  const Secret secret = make_key_secret();
  Result<std::optional<store::StoredKey>> key = tl::unexpected(is_file_key(name));
  if (find_file_key(ask, name) == nullptr) {
    const auto rotate = [name, hash = hash_of_secret(secret.reveal()), ms = *grace](
                            store::KeyTable& keys) { return keys.rotate(name, hash, ms); };
    key = co_await change_key(desk, name, rotate);
    if (key && !*key) key = tl::unexpected(no_key(name));
  }
  if (!key) co_return co_await desk.refuse(ask, key.error());
  co_await respond_key(ask, 200, print_key(**key, net::unix_ms(), secret));
}

net::Task<> revoke_key(Desk& desk, Ask& ask) {
  const std::string name = key_name_of(ask);
  Result<std::optional<store::StoredKey>> key = tl::unexpected(is_file_key(name));
  if (find_file_key(ask, name) == nullptr) {
    const auto revoke = [name](store::KeyTable& keys) { return keys.revoke(name); };
    key = co_await change_key(desk, name, revoke);
    if (key && !*key) key = tl::unexpected(no_key(name));
  }
  if (!key) co_return co_await desk.refuse(ask, key.error());
  co_await respond_key(ask, 200, print_key(**key, net::unix_ms()));
}

}  // namespace

void add_key_routes(Routes& routes, Desk& desk) {
  const auto add = [&](std::string_view method, std::string_view path,
                       net::Task<> (*answer)(Desk&, Ask&)) {
    routes.add(
        {method, path, Guard::admin, [&desk, answer](Ask& ask) { return answer(desk, ask); }});
  };
  add("GET", "/v1/keys", list_keys);
  add("POST", "/v1/keys", make_key);
  add("POST", "/v1/keys/*/rotate", rotate_key);
  add("GET", "/v1/keys/*", show_key);
  add("DELETE", "/v1/keys/*", revoke_key);
}

}  // namespace callgate::server
