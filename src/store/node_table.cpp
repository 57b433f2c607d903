#include "store/node_table.h"

#include <algorithm>
#include <array>

#include "store/session_table.h"

namespace callgate::store {
namespace {

constexpr std::int64_t kMinute = 60'000'000;  // in microseconds

Value as_text(std::string_view value) { return value; }

Attempt<void> no_count(const Attempt<std::int64_t>& changed) {
  if (!changed) return tl::unexpected(changed.error());
  return {};
}

}  // namespace

NodeTable::NodeTable(Database& database, std::string node)
    : database_(database), node_(std::move(node)), now_(now_expression(database.engine())) {}

std::string NodeTable::sql(std::string_view text) const { return with_now(text, now_); }

Attempt<void> NodeTable::beat(std::chrono::milliseconds ttl, const NodeAddress& address) {
  const std::array values = {as_text(node_), Value(ttl.count()), as_text(address.url),
                             as_text(address.token)};
  return no_count(database_.change(
      sql("INSERT INTO node (id, alive_to, address, token) VALUES ($1, {now} + CAST($2 AS bigint), "
          "$3, $4) ON CONFLICT (id) DO UPDATE SET alive_to = excluded.alive_to, address = "
          "excluded.address, token = excluded.token"),
      values));
}

Attempt<void> NodeTable::leave() {
  const std::array values = {as_text(node_)};
  const std::array commands = {Command{"DELETE FROM lease WHERE node = $1", values},
                               Command{"DELETE FROM stream_limit WHERE node = $1", values},
                               Command{"DELETE FROM node WHERE id = $1", values}};
  const auto changed = database_.batch(commands);
  if (!changed) return tl::unexpected(changed.error());
  return {};
}

Attempt<std::int64_t> NodeTable::count() {
  return database_.integer(sql("SELECT count(*) FROM node WHERE alive_to > {now}"));
}

Attempt<bool> NodeTable::take(std::string_view name, std::string_view holder) {
  const std::array values = {as_text(name), as_text(node_), as_text(holder)};
  const auto changed = database_.change(
      sql("INSERT INTO lease (name, node, holder) SELECT CAST($1 AS text), CAST($2 AS text), "
          "CAST($3 AS text) WHERE EXISTS (SELECT 1 FROM node WHERE id = $2 AND alive_to > {now}) "
          "ON CONFLICT (name) DO UPDATE SET node = excluded.node, holder = excluded.holder "
          "WHERE lease.node = excluded.node OR NOT EXISTS (SELECT 1 FROM node n "
          "WHERE n.id = lease.node AND n.alive_to > {now})"),
      values);
  if (!changed) return tl::unexpected(changed.error());
  return *changed == 1;
}

Attempt<void> NodeTable::release(std::string_view name, std::string_view holder) {
  const std::array values = {as_text(name), as_text(node_), as_text(holder)};
  return no_count(
      database_.change("DELETE FROM lease WHERE name = $1 AND node = $2 AND holder = $3", values));
}

Attempt<std::vector<KeyShare>> NodeTable::share(std::span<const KeyUse> uses) {
  std::vector<KeyShare> shares(uses.size());
  auto transaction = Transaction::begin(database_);
  if (!transaction) return tl::unexpected(transaction.error());
  const auto living = count();
  if (!living) return tl::unexpected(living.error());
  const std::int64_t nodes = std::max<std::int64_t>(1, *living);
  for (std::size_t i = 0; i < uses.size(); ++i) {
    Attempt<void> shared = share_rates(uses[i], nodes, shares[i]);
    if (shared && uses[i].max_streams > 0) shared = share_streams(uses[i], nodes, shares[i]);
    if (!shared) return tl::unexpected(shared.error());
  }
  if (const auto committed = transaction->commit(); !committed) {
    return tl::unexpected(committed.error());
  }
  return shares;
}

Attempt<void> NodeTable::share_rates(const KeyUse& use, std::int64_t nodes, KeyShare& share) {
  if (use.per_minute > 0) {
    const auto rate = share_rate("rate_limit", use.key_name, use.per_minute, use.held, nodes);
    if (!rate) return tl::unexpected(rate.error());
    share.requests = rate->given;
    share.left = rate->left;
    share.full_in_us = rate->full_in_us;
  }
  if (use.tokens_per_minute > 0) {
    const auto rate =
        share_rate("token_limit", use.key_name, use.tokens_per_minute, use.tokens_held, nodes);
    if (!rate) return tl::unexpected(rate.error());
    share.tokens = *rate;
  }
  return {};
}

// What the node holds is given back first: so it never counts twice, however long it was held. The row is changed before
// it is read, which locks it until the end of the transaction.
Attempt<RateShare> NodeTable::share_rate(std::string_view table, std::string_view key_name,
                                         std::int64_t per_minute, std::int64_t held,
                                         std::int64_t nodes) {
  const auto time_of = [&](std::int64_t count) { return count * kMinute / per_minute; };
  const std::string name(table);
  const std::array back = {as_text(key_name), Value(time_of(held))};
  const Attempt<Rows> rows = database_.query(
      sql("INSERT INTO " + name + " (key_name, full_at) VALUES ($1, {now} * 1000) " +
          "ON CONFLICT (key_name) DO UPDATE SET full_at = " + name +
          ".full_at - CAST($2 AS bigint) RETURNING full_at, {now} * 1000"),
      back);
  if (!rows) return tl::unexpected(rows.error());
  const std::int64_t now = (*rows)[0].integer(1);
  const std::int64_t full_at = std::max((*rows)[0].integer(0), now);
  const std::int64_t free = std::max<std::int64_t>(0, kMinute - (full_at - now));
  const std::int64_t left = free * per_minute / kMinute;
  RateShare share{.given = (left + nodes - 1) / nodes};
  share.left = left - share.given;
  const std::int64_t next = full_at + time_of(share.given);
  share.full_in_us = next - now;
  const std::array taken = {as_text(key_name), Value(next)};
  const auto changed =
      database_.change("UPDATE " + name + " SET full_at = $2 WHERE key_name = $1", taken);
  if (!changed) return tl::unexpected(changed.error());
  return share;
}

Attempt<void> NodeTable::share_streams(const KeyUse& use, std::int64_t nodes, KeyShare& share) {
  constexpr std::string_view kSet =
      "INSERT INTO stream_limit (key_name, node, allowed) VALUES ($1, $2, $3) "
      "ON CONFLICT (key_name, node) DO UPDATE SET allowed = excluded.allowed";
  // A row that all nodes change, so that they go one after the other.
  const std::array lock = {as_text(use.key_name), as_text(""), Value(std::int64_t{0})};
  if (const auto locked = database_.change(kSet, lock); !locked) return no_count(locked);
  const std::array who = {as_text(use.key_name), as_text(node_)};
  const auto others = database_.integer(
      sql("SELECT CAST(coalesce(sum(l.allowed), 0) AS bigint) FROM stream_limit l "
          "JOIN node n ON n.id = l.node "
          "WHERE l.key_name = $1 AND l.node <> $2 AND n.alive_to > {now}"),
      who);
  if (!others) return no_count(others);
  const std::int64_t spare = std::max<std::int64_t>(0, use.max_streams - *others - use.running);
  share.streams = use.running + (spare + nodes - 1) / nodes;
  const std::array set = {as_text(use.key_name), as_text(node_), Value(share.streams)};
  return no_count(database_.change(kSet, set));
}

Attempt<void> NodeTable::sweep() {
  const std::string leases =
      sql("DELETE FROM lease WHERE NOT EXISTS (SELECT 1 FROM node n WHERE n.id = lease.node AND "
          "n.alive_to > {now})");
  const std::string streams =
      sql("DELETE FROM stream_limit WHERE node <> '' AND NOT EXISTS (SELECT 1 FROM node n WHERE "
          "n.id = stream_limit.node AND n.alive_to > {now})");
  const std::string nodes = sql("DELETE FROM node WHERE alive_to < {now} - 60000");
  // A limit whose burst has long been whole is as one that was never used.
  const std::string requests =
      sql("DELETE FROM rate_limit WHERE full_at < ({now} - 600000) * 1000");
  const std::string tokens = sql("DELETE FROM token_limit WHERE full_at < ({now} - 600000) * 1000");
  const std::array commands = {Command{leases, {}}, Command{streams, {}}, Command{nodes, {}},
                               Command{requests, {}}, Command{tokens, {}}};
  const auto changed = database_.batch(commands);
  if (!changed) return tl::unexpected(changed.error());
  return {};
}

}  // namespace callgate::store
