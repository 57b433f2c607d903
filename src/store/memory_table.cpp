#include "store/memory_table.h"

#include <array>

#include "store/session_table.h"

namespace callgate::store {
namespace {

Value text(std::string_view value) { return value; }

}  // namespace

MemoryTable::MemoryTable(Database& database)
    : database_(database), now_(now_expression(database.engine())) {}

std::string MemoryTable::sql(std::string_view text) const { return with_now(text, now_); }

// One statement, so that the head and the messages are of one moment. The head is the row before the first message.
Attempt<std::optional<Memory>> MemoryTable::load(const MemoryName& name) {
  const std::array values = {text(name.key_name), text(name.conversation)};
  const Attempt<Rows> rows = database_.query(
      sql("SELECT -1 AS number, prompt AS body, pending, step, messages, bytes, created_at, "
          "used_at, expires_at FROM memory WHERE key_name = $1 AND conversation = $2 AND "
          "expires_at > {now} UNION ALL SELECT number, body, NULL, NULL, NULL, NULL, NULL, NULL, "
          "NULL FROM memory_message WHERE key_name = $1 AND conversation = $2 ORDER BY number"),
      values);
  if (!rows) return tl::unexpected(rows.error());
  if (rows->empty() || (*rows)[0].integer(0) != -1) return std::nullopt;
  const Rows::Row first = (*rows)[0];
  Memory memory;
  memory.head = {.step = first.text(3),
                 .messages = first.integer(4),
                 .bytes = first.integer(5),
                 .prompt = first.text(1),
                 .pending = first.text(2),
                 .created_at = first.integer(6),
                 .used_at = first.integer(7),
                 .expires_at = first.integer(8)};
  for (std::size_t i = 1; i < rows->size(); ++i) memory.messages.push_back((*rows)[i].text(1));
  return memory;
}

Attempt<std::vector<ListedMemory>> MemoryTable::list(const std::optional<std::string>& key_name,
                                                     std::size_t limit) {
  std::vector<Value> values = {Value(static_cast<std::int64_t>(limit))};
  if (key_name) values.push_back(text(*key_name));
  const std::string of_key = key_name ? "AND key_name = $2 " : "";
  const Attempt<Rows> rows = database_.query(
      sql("SELECT key_name, conversation, messages, bytes, length(pending), created_at, used_at, "
          "expires_at FROM memory WHERE expires_at > {now} " +
          of_key + "ORDER BY used_at DESC, key_name, conversation LIMIT $1"),
      values);
  if (!rows) return tl::unexpected(rows.error());
  std::vector<ListedMemory> listed;
  for (std::size_t i = 0; i < rows->size(); ++i) {
    const Rows::Row row = (*rows)[i];
    ListedMemory& memory = listed.emplace_back();
    memory.name = {.key_name = row.text(0), .conversation = row.text(1)};
    memory.head.messages = row.integer(2);
    memory.head.bytes = row.integer(3);
    if (row.integer(4) > 0) memory.head.pending = "...";
    memory.head.created_at = row.integer(5);
    memory.head.used_at = row.integer(6);
    memory.head.expires_at = row.integer(7);
  }
  return listed;
}

// What follows the head's write sees by `step` whether that was done, now or by an earlier try that was not told so.
Attempt<bool> MemoryTable::append(const MemoryName& name, const MemoryStep& step,
                                  std::chrono::milliseconds keep) {
  const std::int64_t messages = step.from + static_cast<std::int64_t>(step.messages.size());
  const std::array of_name = {text(name.key_name), text(name.conversation)};
  std::vector<Value> of_head = {text(name.key_name),       text(name.conversation),
                                text(step.step),           Value(messages),
                                Value(step.bytes),         Value(Blob{step.prompt}),
                                Value(Blob{step.pending}), Value(keep.count())};
  const std::string expired =
      sql("DELETE FROM memory WHERE key_name = $1 AND conversation = $2 AND expires_at <= {now}");
  const std::string made =
      sql("INSERT INTO memory (key_name, conversation, step, messages, bytes, prompt, pending, "
          "created_at, used_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6, $7, {now}, {now}, "
          "{now} + CAST($8 AS bigint)) ON CONFLICT (key_name, conversation) DO NOTHING");
  const std::string moved =
      sql("UPDATE memory SET step = $3, messages = $4, bytes = $5, prompt = $6, pending = $7, "
          "used_at = {now}, expires_at = {now} + CAST($8 AS bigint) WHERE key_name = $1 AND "
          "conversation = $2 AND step = $9 AND expires_at > {now}");
  std::vector<Command> commands;
  if (step.after.empty()) {
    commands.push_back({expired, of_name});
    commands.push_back({made, of_head});
  } else {
    of_head.push_back(text(step.after));
    commands.push_back({moved, of_head});
  }
  const std::size_t head_at = commands.size() - 1;
  const std::string said =
      sql("INSERT INTO memory_message (key_name, conversation, number, body, bytes, created_at) "
          "SELECT CAST($1 AS text), CAST($2 AS text), CAST($3 AS bigint), $4, CAST($5 AS bigint), "
          "{now} WHERE EXISTS (SELECT 1 FROM memory WHERE key_name = $1 AND conversation = $2 AND "
          "step = $6) ON CONFLICT (key_name, conversation, number) DO NOTHING");
  std::vector<std::array<Value, 6>> rows;
  for (std::size_t i = 0; i < step.messages.size(); ++i) {
    rows.push_back({text(name.key_name), text(name.conversation),
                    Value(step.from + static_cast<std::int64_t>(i)), Value(Blob{step.messages[i]}),
                    Value(static_cast<std::int64_t>(step.messages[i].size())), text(step.step)});
  }
  for (const auto& row : rows) commands.push_back({said, row});
  const auto changed = database_.batch(commands);
  if (!changed) return tl::unexpected(changed.error());
  if ((*changed)[head_at] == 1) return true;
  const std::array asked = {text(name.key_name), text(name.conversation), text(step.step)};
  const Attempt<std::int64_t> done = database_.integer(
      "SELECT count(*) FROM memory WHERE key_name = $1 AND conversation = $2 AND step = $3", asked);
  if (!done) return tl::unexpected(done.error());
  return *done == 1;
}

Attempt<bool> MemoryTable::erase(const MemoryName& name) {
  const std::array values = {text(name.key_name), text(name.conversation)};
  const auto changed =
      database_.change("DELETE FROM memory WHERE key_name = $1 AND conversation = $2", values);
  if (!changed) return tl::unexpected(changed.error());
  return *changed == 1;
}

Attempt<std::int64_t> MemoryTable::sweep(std::size_t limit) {
  const std::array values = {Value(static_cast<std::int64_t>(limit))};
  return database_.change(
      sql("DELETE FROM memory WHERE (key_name, conversation) IN (SELECT key_name, conversation "
          "FROM memory WHERE expires_at <= {now} ORDER BY expires_at LIMIT $1)"),
      values);
}

}  // namespace callgate::store
