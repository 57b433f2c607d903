#include "store/keys/key_table.h"

#include <array>

#include "json/reader.h"
#include "json/writer.h"
#include "store/session_table.h"

namespace callgate::store {
namespace {

constexpr std::string_view kKeyColumns =
    "SELECT name, owner, secret_hash, former_hash, former_until, created_at, rotated_at, "
    "expires_at, revoked_at, admin, log_content, models, tools, deny_tools, requests_per_minute, "
    "tokens_per_minute, max_streams, tokens_per_day, tokens_per_month, cost_per_day, "
    "cost_per_month FROM api_key";

std::string print_patterns(const std::vector<std::string>& patterns) {
  std::string json = "[";
  for (const std::string& pattern : patterns) {
    if (json.size() > 1) json += ',';
    json::append_string(json, pattern);
  }
  return json + "]";
}

std::vector<std::string> read_patterns(std::string_view json) {
  std::vector<std::string> patterns;
  json::Reader in(json);
  while (in.next_element()) patterns.emplace_back(in.string());
  return patterns;
}

StoredKey to_stored_key(const Rows::Row& row) {
  return {.name = row.text(0),
          .owner = row.text(1),
          .secret_hash = row.text(2),
          .former_hash = row.text(3),
          .former_until = row.integer(4),
          .created_at = row.integer(5),
          .rotated_at = row.integer(6),
          .expires_at = row.integer(7),
          .revoked_at = row.integer(8),
          .admin = row.integer(9) != 0,
          .log_content = row.integer(10) != 0,
          .models = read_patterns(row.text(11)),
          .tools = read_patterns(row.text(12)),
          .deny_tools = read_patterns(row.text(13)),
          .requests_per_minute = row.integer(14),
          .tokens_per_minute = row.integer(15),
          .max_streams = row.integer(16),
          .tokens_per_day = row.integer(17),
          .tokens_per_month = row.integer(18),
          .cost_per_day = row.integer(19),
          .cost_per_month = row.integer(20)};
}

Value time_or_null(std::int64_t time) { return time == 0 ? Value() : Value(time); }

}  // namespace

KeyTable::KeyTable(Database& database)
    : database_(database), now_(now_expression(database.engine())) {}

std::string KeyTable::sql(std::string_view text) const { return with_now(text, now_); }

Attempt<std::int64_t> KeyTable::version() {
  return database_.integer("SELECT version FROM key_change");
}

Attempt<std::vector<StoredKey>> KeyTable::list() {
  std::string statement(kKeyColumns);
  statement += " ORDER BY name";
  const Attempt<Rows> rows = database_.query(statement);
  if (!rows) return tl::unexpected(rows.error());
  std::vector<StoredKey> keys;
  for (std::size_t i = 0; i < rows->size(); ++i) keys.push_back(to_stored_key((*rows)[i]));
  return keys;
}

Attempt<std::optional<StoredKey>> KeyTable::get(std::string_view name) {
  const std::array values = {Value(name)};
  std::string statement(kKeyColumns);
  statement += " WHERE name = $1";
  const Attempt<Rows> rows = database_.query(statement, values);
  if (!rows) return tl::unexpected(rows.error());
  if (rows->empty()) return std::nullopt;
  return to_stored_key((*rows)[0]);
}

// The version goes first: its row is what changes wait for each other on.
Attempt<bool> KeyTable::change(std::string_view text, std::span<const Value> values) {
  const std::string statement = sql(text);
  const std::array commands = {
      Command{"INSERT INTO key_change (id, version) VALUES (1, 1) ON CONFLICT (id) DO "
              "UPDATE SET version = key_change.version + 1",
              {}},
      Command{statement, values}};
  const auto changed = database_.batch(commands);
  if (!changed) return tl::unexpected(changed.error());
  return changed->back() > 0;
}

Attempt<bool> KeyTable::add(const StoredKey& key) {
  const std::string models = print_patterns(key.models);
  const std::string tools = print_patterns(key.tools);
  const std::string deny_tools = print_patterns(key.deny_tools);
  const auto text = [](const std::string& value) { return Value(std::string_view(value)); };
  const std::array values = {text(key.name),
                             text(key.owner),
                             text(key.secret_hash),
                             time_or_null(key.expires_at),
                             Value(std::int64_t{key.admin}),
                             Value(std::int64_t{key.log_content}),
                             text(models),
                             text(tools),
                             text(deny_tools),
                             Value(key.requests_per_minute),
                             Value(key.tokens_per_minute),
                             Value(key.max_streams),
                             Value(key.tokens_per_day),
                             Value(key.tokens_per_month),
                             Value(key.cost_per_day),
                             Value(key.cost_per_month)};
  return change(
      "INSERT INTO api_key (name, owner, secret_hash, expires_at, admin, log_content, models, "
      "tools, deny_tools, requests_per_minute, tokens_per_minute, max_streams, tokens_per_day, "
      "tokens_per_month, cost_per_day, cost_per_month, created_at) VALUES ($1, $2, $3, $4, $5, "
      "$6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, {now}) ON CONFLICT DO NOTHING",
      values);
}

Attempt<bool> KeyTable::rotate(std::string_view name, std::string_view secret_hash,
                               std::int64_t grace_ms) {
  const std::array values = {Value(name), Value(secret_hash), Value(grace_ms)};
  return change(
      "UPDATE api_key SET former_hash = secret_hash, former_until = {now} + CAST($3 AS bigint), "
      "secret_hash = $2, rotated_at = {now} WHERE name = $1 AND revoked_at IS NULL",
      values);
}

Attempt<bool> KeyTable::revoke(std::string_view name) {
  const std::array values = {Value(name)};
  return change("UPDATE api_key SET revoked_at = coalesce(revoked_at, {now}) WHERE name = $1",
                values);
}

}  // namespace callgate::store
