#include "access/key_book.h"

#include "access/key_secret.h"
#include "base/amount.h"

namespace callgate::server {
namespace {

// `code`: of a correct secret that is no longer valid, so it does not count as a guess.
Error no_such_key(std::string message, std::string code = {}) {
  return {.code = ErrorCode::unauthenticated,
          .message = std::move(message),
          .upstream_code = std::move(code)};
}

Error not_read_yet() {
  return {.code = ErrorCode::unavailable,
          .message = "the keys of the store could not be read yet",
          .retry_after = "1"};
}

}  // namespace

KeyConfig to_config(const store::StoredKey& key) {
  KeyConfig config;
  config.name = key.name;
  config.requests_per_minute = key.requests_per_minute;
  config.max_streams = key.max_streams;
  config.tokens_per_minute = key.tokens_per_minute;
  config.tokens_per_day = key.tokens_per_day;
  config.tokens_per_month = key.tokens_per_month;
  config.cost_per_day = static_cast<double>(key.cost_per_day) / kBillionths;
  config.cost_per_month = static_cast<double>(key.cost_per_month) / kBillionths;
  config.models = key.models;
  config.admin = key.admin;
  config.log_content = key.log_content;
  config.tools = key.tools;
  config.deny_tools = key.deny_tools;
  return config;
}

void KeyBook::set_file_keys(const std::vector<KeyConfig>& keys) {
  auto of_file = std::make_shared<FileKeys>();
  for (const KeyConfig& key : keys) {
    of_file->names.insert(key.name);
    of_file->hashes.insert(hash_of_secret(key.secret.reveal()));
  }
  const std::lock_guard lock(mutex_);
  of_file_ = std::move(of_file);
}

std::shared_ptr<const KeyBook::Page> KeyBook::page() const {
  const std::lock_guard lock(mutex_);
  return page_;
}

std::string KeyBook::objection(const store::StoredKey& key, const FileKeys& of_file) const {
  if (of_file.names.contains(key.name)) return "a [[key]] of the file has the same name";
  if (of_file.hashes.contains(key.secret_hash) || of_file.hashes.contains(key.former_hash)) {
    return "a [[key]] of the file has the same secret";
  }
  return {};
}

store::Attempt<void> KeyBook::refresh(store::KeyTable& table) {
  std::shared_ptr<const Page> before;
  std::shared_ptr<const FileKeys> of_file;
  {
    const std::lock_guard lock(mutex_);
    before = page_;
    of_file = of_file_;
  }
  const auto version = table.version();
  if (!version) return tl::unexpected(version.error());
  if (before != nullptr && *version == version_ && of_file == seen_file_) return {};
  const auto keys = table.list();
  if (!keys) return tl::unexpected(keys.error());
  auto next = std::make_shared<Page>();
  for (const store::StoredKey& key : *keys) {
    if (const std::string why = objection(key, *of_file); !why.empty()) {
      if (warning_) warning_("the stored key \"" + key.name + "\" is not used: " + why);
      continue;
    }
    const KeyConfig config = to_config(key);
    std::shared_ptr<KeyState> state;
    if (before != nullptr) {
      const auto old = before->by_name.find(key.name);
      if (old != before->by_name.end()) state = before->entries[old->second].key;
    }
    const std::int64_t end = key.revoked_at != 0 ? key.revoked_at : key.expires_at;
    if (state != nullptr) state->ends_at = end;  // answers may run on it, whatever becomes of it
    if (state == nullptr || state->config != config) state = std::make_shared<KeyState>(config);
    state->ends_at = end;
    const std::size_t place = next->entries.size();
    next->by_name.emplace(key.name, place);
    next->by_hash.emplace(key.secret_hash, place);
    if (!key.former_hash.empty()) next->by_hash.emplace(key.former_hash, place);
    next->entries.push_back({.hash = Secret(key.secret_hash),
                             .former_hash = Secret(key.former_hash),
                             .former_until = key.former_until,
                             .expires_at = key.expires_at,
                             .revoked = key.revoked_at != 0,
                             .key = std::move(state)});
  }
  version_ = *version;
  seen_file_ = std::move(of_file);
  const std::lock_guard lock(mutex_);
  page_ = std::move(next);
  return {};
}

Result<KeyRef> KeyBook::use(const Entry& entry, std::int64_t now_ms) {
  if (entry.revoked)
    return tl::unexpected(no_such_key("this API key was revoked", "api_key_revoked"));
  if (entry.expires_at != 0 && now_ms >= entry.expires_at) {
    return tl::unexpected(no_such_key("this API key has expired", "api_key_expired"));
  }
  return KeyRef(entry.key);
}

// The table of hashes finds the place, the comparison in constant time decides. How long the table takes says something
// of hashes alone, and nobody can choose secrets by their hashes.
Result<KeyRef> KeyBook::find(std::string_view secret, std::int64_t now_ms) const {
  const auto page = this->page();
  if (page == nullptr) return tl::unexpected(not_read_yet());
  const std::string hash = hash_of_secret(secret);
  const auto place = page->by_hash.find(hash);
  if (place != page->by_hash.end()) {
    const Entry& entry = page->entries[place->second];
    const bool former = entry.former_hash.matches(hash) && now_ms < entry.former_until;
    if (entry.hash.matches(hash) || former) return use(entry, now_ms);
  }
  return tl::unexpected(no_such_key("this API key is not known"));
}

Result<KeyRef> KeyBook::find_by_name(std::string_view name, std::int64_t now_ms) const {
  const auto page = this->page();
  if (page == nullptr) return tl::unexpected(not_read_yet());
  const auto place = page->by_name.find(std::string(name));
  if (place != page->by_name.end()) return use(page->entries[place->second], now_ms);
  return tl::unexpected(no_such_key("the key of this connection is no longer valid"));
}

std::vector<std::shared_ptr<KeyState>> KeyBook::keys() const {
  std::vector<std::shared_ptr<KeyState>> keys;
  if (const auto page = this->page()) {
    for (const Entry& entry : page->entries) {
      if (!entry.revoked) keys.push_back(entry.key);
    }
  }
  return keys;
}

}  // namespace callgate::server
