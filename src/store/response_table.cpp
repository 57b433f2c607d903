#include "store/response_table.h"

#include <array>

#include "store/session_table.h"

namespace callgate::store {

ResponseTable::ResponseTable(Database& database)
    : database_(database), now_(now_expression(database.engine())) {}

std::string ResponseTable::sql(std::string_view text) const { return with_now(text, now_); }

Attempt<std::optional<StoredResponse>> ResponseTable::load(const ResponseName& name) {
  const std::array values = {Value(std::string_view(name.key_name)),
                             Value(std::string_view(name.id))};
  const Attempt<Rows> rows = database_.query(
      sql("SELECT previous, node, status, input, output, body, events FROM response WHERE "
          "key_name = $1 AND id = $2 AND expires_at > {now}"),
      values);
  if (!rows) return tl::unexpected(rows.error());
  if (rows->empty()) return std::nullopt;
  const Rows::Row row = (*rows)[0];
  return StoredResponse{.previous = row.text(0),
                        .node = row.text(1),
                        .status = row.text(2),
                        .input = row.text(3),
                        .output = row.text(4),
                        .body = row.text(5),
                        .events = row.text(6)};
}

Attempt<Rows> ResponseTable::ask_chain(const ResponseName& name, std::string_view what,
                                       std::string_view order) {
  const std::array values = {Value(std::string_view(name.key_name)),
                             Value(std::string_view(name.id)), Value(kMaxChain)};
  const std::string text =
      sql("WITH RECURSIVE chain (id, previous, depth) AS (SELECT id, previous, 0 FROM response "
          "WHERE key_name = $1 AND id = $2 AND expires_at > {now} UNION ALL SELECT r.id, "
          "r.previous, c.depth + 1 FROM response r JOIN chain c ON r.id = c.previous WHERE "
          "r.key_name = $1 AND r.expires_at > {now} AND c.depth < CAST($3 AS bigint)) SELECT ")
          .append(what)
          .append(" FROM chain c JOIN response r ON r.id = c.id WHERE r.key_name = $1")
          .append(order);
  return database_.query(text, values);
}

Attempt<std::int64_t> ResponseTable::chain_bytes(const ResponseName& name) {
  const Attempt<Rows> rows =
      ask_chain(name, "CAST(COALESCE(SUM(length(r.input) + length(r.output)), 0) AS bigint)", "");
  if (!rows) return tl::unexpected(rows.error());
  return (*rows)[0].integer(0);
}

Attempt<std::vector<ResponseLink>> ResponseTable::chain(const ResponseName& name) {
  const Attempt<Rows> rows =
      ask_chain(name, "r.input, r.output, r.status, r.previous", " ORDER BY c.depth DESC");
  if (!rows) return tl::unexpected(rows.error());
  std::vector<ResponseLink> links;
  for (std::size_t i = 0; i < rows->size(); ++i) {
    const Rows::Row row = (*rows)[i];
    links.push_back({.input = row.text(0),
                     .output = row.text(1),
                     .status = row.text(2),
                     .previous = row.text(3)});
  }
  return links;
}

Attempt<bool> ResponseTable::save(const ResponseName& name, const StoredResponse& response,
                                  std::chrono::milliseconds keep) {
  const std::array values = {Value(std::string_view(name.key_name)),
                             Value(std::string_view(name.id)),
                             text_or_null(response.previous),
                             Value(std::string_view(response.node)),
                             Value(std::string_view(response.status)),
                             Value(Blob{response.input}),
                             Value(Blob{response.output}),
                             Value(Blob{response.body}),
                             Value(Blob{response.events}),
                             Value(static_cast<std::int64_t>(keep.count()))};
  const auto changed = database_.change(
      sql("INSERT INTO response (key_name, id, previous, node, status, input, output, body, "
          "events, created_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, {now}, "
          "{now} + CAST($10 AS bigint)) ON CONFLICT (key_name, id) DO UPDATE SET node = "
          "excluded.node, status = excluded.status, input = excluded.input, output = "
          "excluded.output, body = excluded.body, events = excluded.events, expires_at = "
          "excluded.expires_at WHERE response.node = excluded.node"),
      values);
  if (!changed) return tl::unexpected(changed.error());
  return *changed == 1;
}

// It has no owner from then on: what its node writes later, should it live after all, comes too late.
Attempt<bool> ResponseTable::give_up(const ResponseName& name, std::string_view own_node,
                                     std::string_view body, std::chrono::milliseconds grace) {
  const std::array values = {Value(std::string_view(name.key_name)),
                             Value(std::string_view(name.id)), Value(own_node), Value(Blob{body}),
                             Value(static_cast<std::int64_t>(grace.count()))};
  const auto changed = database_.change(
      sql("UPDATE response SET status = 'failed', node = '', body = $4 WHERE key_name = $1 AND "
          "id = $2 AND status IN ('queued', 'in_progress') AND created_at <= {now} - "
          "CAST($5 AS bigint) AND (node = $3 OR NOT EXISTS (SELECT 1 FROM node n WHERE n.id = "
          "response.node AND n.alive_to > {now}))"),
      values);
  if (!changed) return tl::unexpected(changed.error());
  return *changed == 1;
}

Attempt<bool> ResponseTable::erase(const ResponseName& name) {
  const std::array values = {Value(std::string_view(name.key_name)),
                             Value(std::string_view(name.id))};
  const auto changed =
      database_.change("DELETE FROM response WHERE key_name = $1 AND id = $2", values);
  if (!changed) return tl::unexpected(changed.error());
  return *changed == 1;
}

Attempt<std::int64_t> ResponseTable::sweep(std::size_t limit) {
  const std::array values = {Value(static_cast<std::int64_t>(limit))};
  return database_.change(
      sql("DELETE FROM response WHERE (key_name, id) IN (SELECT key_name, id FROM response WHERE "
          "expires_at <= {now} ORDER BY expires_at LIMIT $1)"),
      values);
}

}  // namespace callgate::store
