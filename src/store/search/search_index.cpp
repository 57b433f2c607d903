#include "store/search/search_index.h"

#include <optional>
#include <utility>

#include "store/content_codec.h"

namespace callgate::store {
namespace {

constexpr std::int64_t kTextsAtOnce = 200;
constexpr std::string_view kInsertSqlite =
    "INSERT OR REPLACE INTO request_search (rowid, text) VALUES ($1, $2)";
constexpr std::string_view kInsertPostgres =
    "INSERT INTO request_search (seq, text, received_at) VALUES ($1, $2, $3)"
    " ON CONFLICT DO NOTHING";
constexpr std::string_view kDone = "DELETE FROM search_waiting WHERE seq = $1";

Attempt<std::string> search_text(Database& database, const WaitingText& waiting) {
  const Value values[] = {waiting.seq * 4, waiting.seq * 4 + 3, waiting.received_at};
  const Attempt<Rows> rows = database.query(
      "SELECT place, codec, body FROM content WHERE place BETWEEN $1 AND $2 AND received_at = $3",
      values);
  if (!rows) return tl::unexpected(rows.error());
  std::string text;
  for (std::size_t i = 0; i < rows->size(); ++i) {
    const Rows::Row row = (*rows)[i];
    auto parts = decode_content(row.integer(0), row.integer(1), row.text(2));
    // One damaged body must not end the index.
    if (parts && !(*parts)[kSearchPart].empty()) text = std::move((*parts)[kSearchPart]);
  }
  return text;
}

std::vector<Command> to_commands(Engine engine, const std::vector<WaitingText>& texts,
                                 std::vector<Value>& values) {
  const bool sqlite = engine == Engine::sqlite;
  values.reserve(3 * texts.size());  // no span into it may move
  std::vector<Command> commands;
  for (const WaitingText& waiting : texts) {
    values.insert(values.end(), {waiting.seq, std::string_view(waiting.text), waiting.received_at});
    const std::span<const Value> all = std::span(values).last(3);
    if (!waiting.text.empty()) {
      commands.push_back({sqlite ? kInsertSqlite : kInsertPostgres, all.first(sqlite ? 2 : 3)});
    }
    commands.push_back({kDone, all.first(1)});
  }
  return commands;
}

// A statement for each text: one for several would make FTS5 write a segment for each statement.
Attempt<void> perform(Database& database, std::span<const Command> commands) {
  for (const Command& command : commands) {
    const Attempt<std::int64_t> changed = database.change(command.sql, command.values);
    if (!changed) return tl::unexpected(changed.error());
  }
  return {};
}

}  // namespace

Attempt<std::vector<WaitingText>> waiting_texts(Database& database, std::int64_t after,
                                                std::int64_t limit) {
  const Value values[] = {after, limit};
  const Attempt<Rows> rows = database.query(
      "SELECT seq, received_at FROM search_waiting WHERE seq > $1 ORDER BY seq LIMIT $2", values);
  if (!rows) return tl::unexpected(rows.error());
  std::vector<WaitingText> texts;
  for (std::size_t i = 0; i < rows->size(); ++i) {
    WaitingText waiting{.seq = (*rows)[i].integer(0), .received_at = (*rows)[i].integer(1)};
    Attempt<std::string> text = search_text(database, waiting);
    if (!text) return tl::unexpected(text.error());
    waiting.text = std::move(*text);
    texts.push_back(std::move(waiting));
  }
  return texts;
}

// In SQLite it reads and writes under one lock, or a row could be deleted in between. In PostgreSQL days go as a whole.
Attempt<bool> index_some(Database& database) {
  const Attempt<std::int64_t> any =
      database.integer("SELECT count(*) FROM (SELECT 1 FROM search_waiting LIMIT 1) AS first_row");
  if (!any) return tl::unexpected(any.error());
  if (*any == 0) return false;
  std::optional<Transaction> transaction;
  if (database.engine() == Engine::sqlite) {
    Attempt<Transaction> begun = Transaction::begin(database);
    if (!begun) return tl::unexpected(begun.error());
    transaction.emplace(std::move(*begun));
  }
  const Attempt<std::vector<WaitingText>> texts = waiting_texts(database, -1, kTextsAtOnce);
  if (!texts) return tl::unexpected(texts.error());
  std::vector<Value> values;
  const std::vector<Command> commands = to_commands(database.engine(), *texts, values);
  Attempt<void> done;
  if (transaction) {
    done = perform(database, commands);
    if (done) done = transaction->commit();
  } else if (!commands.empty()) {
    if (const auto changes = database.batch(commands); !changes) {
      done = tl::unexpected(changes.error());
    }
  }
  if (!done) return tl::unexpected(done.error());
  return static_cast<std::int64_t>(texts->size()) == kTextsAtOnce;
}

Attempt<void> index_waiting(Database& database) {
  for (;;) {
    const Attempt<bool> more = index_some(database);
    if (!more) return tl::unexpected(more.error());
    if (!*more) return {};
  }
}

}  // namespace callgate::store
