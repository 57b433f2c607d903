// The table of keys that are made while gateways run: each call is one statement or one transaction on a connection that
// blocks. Secrets are not in it, only their hashes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/database.h"

namespace callgate::store {

// Times are Unix milliseconds, 0 means never; a limit of 0 means no limit.
struct StoredKey {
  std::string name;
  std::string owner;
  std::string secret_hash;  // SHA-256 in hexadecimal digits
  std::string former_hash;  // of the secret before the last rotation
  std::int64_t former_until = 0;
  std::int64_t created_at = 0;
  std::int64_t rotated_at = 0;
  std::int64_t expires_at = 0;
  std::int64_t revoked_at = 0;
  bool admin = false;
  bool log_content = true;
  std::vector<std::string> models{"*"};
  std::vector<std::string> tools{"*"};
  std::vector<std::string> deny_tools;
  std::int64_t requests_per_minute = 0;
  std::int64_t tokens_per_minute = 0;
  std::int64_t max_streams = 0;
  std::int64_t tokens_per_day = 0;
  std::int64_t tokens_per_month = 0;
  std::int64_t cost_per_day = 0;  // billionths
  std::int64_t cost_per_month = 0;

  bool operator==(const StoredKey&) const = default;
};

class KeyTable {
 public:
  // REQUIRES: the database, which is migrated, outlives the table.
  explicit KeyTable(Database& database);

  // Another number after every change of the table.
  Attempt<std::int64_t> version();
  // All of them, by name; also those that have expired or were revoked.
  Attempt<std::vector<StoredKey>> list();
  Attempt<std::optional<StoredKey>> get(std::string_view name);
  // False: the name or the secret is taken.
  Attempt<bool> add(const StoredKey& key);
  // Another secret from now on; the present one is valid for another `grace_ms`. False: no such key, or it was revoked.
  Attempt<bool> rotate(std::string_view name, std::string_view secret_hash, std::int64_t grace_ms);
  // For good. False: no such key; true as well when it was revoked before.
  Attempt<bool> revoke(std::string_view name);

 private:
  Attempt<bool> change(std::string_view text, std::span<const Value> values);
  // With the engine's clock for {now}.
  std::string sql(std::string_view text) const;

  Database& database_;
  std::string_view now_;
};

}  // namespace callgate::store
