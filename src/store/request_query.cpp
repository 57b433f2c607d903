#include "store/request_query.h"

#include <array>
#include <cctype>
#include <charconv>
#include <chrono>
#include <cstdio>

#include "chat/event_log.h"
#include "store/content_codec.h"
#include "store/migration.h"
#include "store/request_row.h"
#include "store/search/search_index.h"

namespace callgate::store {
namespace {

// The most rows of one page.
constexpr std::size_t kMostRows = 1000;

struct Position {
  std::int64_t received_at = 0;
  std::int64_t seq = 0;
};

// `1760000000000.1099511627777`
std::string to_cursor(const Position& position) {
  return std::to_string(position.received_at) + "." + std::to_string(position.seq);
}

std::optional<Position> read_cursor(std::string_view cursor) {
  Position position;
  const char* end = cursor.data() + cursor.size();
  const auto first = std::from_chars(cursor.data(), end, position.received_at);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '.') return std::nullopt;
  const auto second = std::from_chars(first.ptr + 1, end, position.seq);
  if (second.ec != std::errc() || second.ptr != end) return std::nullopt;
  return position;
}

// The words of a text, each in double quotes: what is in them is never an operator.
std::string quoted_words(std::string_view text, std::string_view between) {
  std::string words;
  bool inside = false;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool letter = byte >= 0x80 || std::isalnum(byte);
    if (letter && !inside) {
      if (!words.empty()) words += between;
      words += '"';
    }
    if (!letter && inside) words += '"';
    if (letter) words += c;
    inside = letter;
  }
  if (inside) words += '"';
  return words;
}

// Collects conditions and what they compare with.
class Conditions {
 public:
  explicit Conditions(RequestQuery& query) : query_(query) {}

  void add(std::string_view condition) {
    text_ += text_.empty() ? " WHERE " : " AND ";
    text_ += condition;
  }
  // `?` stands for the value.
  void add(std::string_view condition, Value value) {
    query_.values.push_back(value);
    const std::size_t place = condition.find('?');
    add(std::string(condition.substr(0, place)) + "$" + std::to_string(query_.values.size()) +
        std::string(condition.substr(place + 1)));
  }
  void equal(std::string_view column, const std::string& value) {
    if (!value.empty()) add("r." + std::string(column) + " = ?", std::string_view(value));
  }
  const std::string& text() const { return text_; }

 private:
  RequestQuery& query_;
  std::string text_;
};

// What is compared twice is so for a partial index.
void add_outcome(Conditions& conditions, const RequestFilter& filter) {
  if (filter.state) {
    if (*filter.state != RequestState::completed) conditions.add("r.state <> 'completed'");
    conditions.add("r.state = ?", to_string(*filter.state));
  }
  if (filter.finish_reason) {
    const FinishReason reason = *filter.finish_reason;
    if (reason != FinishReason::stop && reason != FinishReason::tool_calls) {
      conditions.add("r.finish_reason <> 'stop' AND r.finish_reason <> 'tool_calls'");
    }
    conditions.add("r.finish_reason = ?", to_string(reason));
  }
  if (filter.has_calls) {
    conditions.add(*filter.has_calls ? "r.calls > 0" : "coalesce(r.calls, 0) = 0");
  }
  if (!filter.error_code.empty() || filter.has_error == true) {
    conditions.add("r.error_code IS NOT NULL");
  }
  if (!filter.missed_call.empty() || filter.has_missed_call == true) {
    conditions.add("r.missed_call IS NOT NULL");
  }
  if (filter.has_missed_call == false) conditions.add("r.missed_call IS NULL");
  conditions.equal("missed_call", filter.missed_call);
  if (filter.is_resolved) {
    conditions.add(*filter.is_resolved ? "r.resolved_at IS NOT NULL" : "r.resolved_at IS NULL");
  }
  if (filter.has_error == false) conditions.add("r.error_code IS NULL");
  conditions.equal("error_code", filter.error_code);
}

void add_text(Conditions& conditions, RequestQuery& query, Engine engine,
              const RequestFilter& filter, Words frequency) {
  query.texts.push_back(quoted_words(filter.text, engine == Engine::sqlite ? " AND " : " "));
  const std::string_view words = query.texts.back();
  if (words.empty()) return;
  if (engine == Engine::sqlite && frequency == Words::common) {
    conditions.add(
        "EXISTS (SELECT 1 FROM request_search WHERE request_search MATCH ? AND rowid = r.seq)",
        words);
  } else if (engine == Engine::sqlite) {
    conditions.add("r.seq IN (SELECT rowid FROM request_search WHERE request_search MATCH ?)",
                   words);
  } else {
    conditions.add(
        "EXISTS (SELECT 1 FROM request_search s WHERE s.received_at = r.received_at AND s.seq = "
        "r.seq AND search_words(s.text) @@ websearch_to_tsquery('simple', ?))",
        words);
  }
}

void add_position(Conditions& conditions, RequestQuery& query, const Position& position) {
  conditions.add("r.received_at <= ?", position.received_at);
  const std::string same = "$" + std::to_string(query.values.size());
  conditions.add("(r.received_at < " + same + " OR r.seq < ?)", position.seq);
}

// More rows than this are dearer to sort than to walk past.
constexpr std::int64_t kManyRows = 5000;

Attempt<Words> find_frequency(Database& database, const RequestFilter& filter) {
  const std::string words = quoted_words(filter.text, " AND ");
  if (words.empty() || database.engine() != Engine::sqlite) return Words::rare;
  const Value values[] = {std::string_view(words), kManyRows};
  const Attempt<std::int64_t> count = database.integer(
      "SELECT count(*) FROM (SELECT 1 FROM request_search WHERE request_search MATCH $1 LIMIT $2)",
      values);
  if (!count) return tl::unexpected(count.error());
  return *count < kManyRows ? Words::rare : Words::common;
}

Attempt<Rows> find_latest(Database& database, RequestName name, std::string_view columns) {
  const Value values[] = {name.id, name.key.value_or("")};
  const std::string own =
      name.key ? "CASE WHEN coalesce(r.key_name, '') = $2 THEN 0 ELSE 1 END, " : "";
  return database.query("SELECT " + std::string(columns) +
                            " FROM request r WHERE r.id = $1 ORDER BY " + own +
                            "r.received_at DESC, r.seq DESC LIMIT 1",
                        std::span(values).first(name.key ? 2 : 1));
}

}  // namespace

Attempt<RequestQuery> search_query(Engine engine, const RequestFilter& filter, Words words) {
  RequestQuery query;
  query.texts.reserve(1);
  Conditions conditions(query);
  std::string_view order = "r";
  std::string from = " FROM request r";
  if (!filter.tool.empty()) {
    // CROSS: SQLite is to begin with the calls.
    from = " FROM call c CROSS JOIN request r";
    order = "c";
    conditions.add("r.seq = c.seq AND r.received_at = c.received_at AND c.repeats = 0");
    conditions.add("c.name = ?", std::string_view(filter.tool));
  }
  conditions.equal("model", filter.model);
  conditions.equal("key_name", filter.key_name);
  conditions.equal("upstream", filter.upstream);
  if (!filter.session.empty()) conditions.add("r.session IS NOT NULL");
  conditions.equal("session", filter.session);
  const std::string time = std::string(order) + ".received_at";
  if (filter.since) conditions.add(time + " >= ?", *filter.since);
  if (filter.until) conditions.add(time + " < ?", *filter.until);
  add_outcome(conditions, filter);
  if (!filter.text.empty()) add_text(conditions, query, engine, filter, words);
  if (!filter.cursor.empty()) {
    const std::optional<Position> position = read_cursor(filter.cursor);
    if (!position) return fault(FaultKind::bad_row, "cursor: expected one that a page before gave");
    add_position(conditions, query, *position);
  }
  query.values.emplace_back(static_cast<std::int64_t>(std::min(filter.limit, kMostRows) + 1));
  query.sql = "SELECT " + row_columns() + from + conditions.text() + " ORDER BY " + time +
              " DESC, " + std::string(order) + ".seq DESC LIMIT $" +
              std::to_string(query.values.size());
  return query;
}

Attempt<RequestPage> search(Database& database, const RequestFilter& filter) {
  if (!filter.text.empty()) {
    const Attempt<void> indexed = index_waiting(database);
    // What is indexed can be searched all the same; a store that cannot be written gets no new rows either.
    if (!indexed && indexed.error().kind != FaultKind::full &&
        indexed.error().kind != FaultKind::read_only) {
      return tl::unexpected(indexed.error());
    }
  }
  const Attempt<Words> words = find_frequency(database, filter);
  if (!words) return tl::unexpected(words.error());
  const Attempt<RequestQuery> query = search_query(database.engine(), filter, *words);
  if (!query) return tl::unexpected(query.error());
  const Attempt<Rows> rows = database.query(query->sql, query->values);
  if (!rows) return tl::unexpected(rows.error());
  const std::size_t limit = std::min(filter.limit, kMostRows);
  RequestPage page;
  for (std::size_t i = 0; i < rows->size() && i < limit; ++i) {
    page.rows.push_back(read_row((*rows)[i]));
    if (i + 1 == limit && rows->size() > limit) {
      page.cursor = to_cursor({page.rows.back().record.received_at, read_seq((*rows)[i])});
    }
  }
  return page;
}

Attempt<std::vector<RequestRow>> recent(Database& database, std::size_t limit) {
  const Value values[] = {static_cast<std::int64_t>(limit)};
  const Attempt<Rows> rows =
      database.query("SELECT " + row_columns() +
                         " FROM request r ORDER BY r.received_at DESC, r.seq DESC LIMIT $1",
                     values);
  if (!rows) return tl::unexpected(rows.error());
  std::vector<RequestRow> read;
  for (std::size_t i = 0; i < rows->size(); ++i) read.push_back(read_row((*rows)[i]));
  return read;
}

Attempt<std::optional<RequestRow>> get(Database& database, RequestName name) {
  const Attempt<Rows> rows = find_latest(database, name, row_columns());
  if (!rows) return tl::unexpected(rows.error());
  if (rows->empty()) return std::nullopt;
  return read_row((*rows)[0]);
}

Attempt<bool> resolve(Database& database, RequestName name, std::optional<std::int64_t> at,
                      std::string_view note) {
  const Attempt<Rows> found = find_latest(database, name, "r.seq, r.received_at");
  if (!found) return tl::unexpected(found.error());
  if (found->empty()) return false;
  const std::string text(at ? note : std::string_view());
  const Value values[] = {integer_or_null(at), text_or_null(text), (*found)[0].integer(0),
                          (*found)[0].integer(1)};
  const Attempt<Rows> done = database.query(
      "UPDATE request SET resolved_at = $1, resolution = $2 WHERE seq = $3 AND received_at = $4",
      values);
  if (!done) return tl::unexpected(done.error());
  return true;
}

Attempt<std::vector<CallRow>> calls(Database& database, RequestName name) {
  const Attempt<Rows> found = find_latest(database, name, "r.seq, r.received_at");
  if (!found) return tl::unexpected(found.error());
  std::vector<CallRow> calls;
  if (found->empty()) return calls;
  const Value values[] = {(*found)[0].integer(0), (*found)[0].integer(1)};
  const Attempt<Rows> rows = database.query(
      "SELECT id, name, outcome, round, is_error, duration_ms, result_bytes, result FROM call "
      "WHERE "
      "seq = $1 AND received_at = $2 ORDER BY number",
      values);
  if (!rows) return tl::unexpected(rows.error());
  for (std::size_t i = 0; i < rows->size(); ++i) {
    const Rows::Row row = (*rows)[i];
    calls.push_back({.id = row.text(0),
                     .name = row.text(1),
                     .outcome = find_call_outcome(row.text(2)).value_or(CallOutcome::malformed)});
    if (row.is_null(3)) continue;
    calls.back().result = CallResult{.round = row.integer(3),
                                     .is_error = row.integer(4) != 0,
                                     .duration_ms = row.integer(5),
                                     .bytes = row.integer(6),
                                     .text = row.text(7)};
  }
  return calls;
}

Attempt<RequestContent> content(Database& database, RequestName name) {
  const Attempt<Rows> found = find_latest(database, name, "r.seq, r.received_at");
  if (!found) return tl::unexpected(found.error());
  RequestContent content;
  if (found->empty()) return content;
  const std::int64_t place = (*found)[0].integer(0) * 4;
  const Value values[] = {place, place + 3, (*found)[0].integer(1)};
  const Attempt<Rows> rows = database.query(
      "SELECT place, codec, body FROM content WHERE place BETWEEN $1 AND $2 AND received_at = $3",
      values);
  if (!rows) return tl::unexpected(rows.error());
  std::string* const texts[] = {&content.received, &content.sent, &content.response,
                                &content.events};
  for (std::size_t i = 0; i < rows->size(); ++i) {
    const Rows::Row row = (*rows)[i];
    auto parts = decode_content(row.integer(0), row.integer(1), row.text(2));
    if (!parts) return tl::unexpected(parts.error());
    for (std::size_t part = 0; part < std::size(texts); ++part) {
      if (!(*parts)[part].empty()) *texts[part] = std::move((*parts)[part]);
    }
  }
  return content;
}

Attempt<StoreStats> stats(Database& database) {
  const bool sqlite = database.engine() == Engine::sqlite;
  StoreStats stats{.engine = std::string(to_string(database.engine()))};
  const Attempt<int> schema = schema_version(database);
  if (!schema) return tl::unexpected(schema.error());
  stats.schema = *schema;
  // PostgreSQL knows about how many rows a table has; one that it has not looked at yet is small.
  const Attempt<Rows> rows = database.query(
      sqlite
          ? "SELECT (SELECT count(*) FROM request), (SELECT count(*) FROM sqlite_schema WHERE "
            "name = 'session'), page_count * page_size FROM pragma_page_count, pragma_page_size"
          : "SELECT (SELECT CASE WHEN min(c.reltuples) < 0 OR sum(c.reltuples) < 100000 THEN "
            "(SELECT count(*) FROM request) ELSE sum(c.reltuples)::bigint END FROM pg_inherits i "
            "JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'request'::regclass), "
            "(SELECT count(*) FROM pg_tables WHERE schemaname = current_schema() AND tablename "
            "= 'session'), (SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM "
            "pg_class c WHERE c.relkind = 'r' AND c.relnamespace = "
            "current_schema()::regnamespace)");
  if (!rows) return tl::unexpected(rows.error());
  stats.requests = (*rows)[0].integer(0);
  stats.bytes = (*rows)[0].integer(2);
  if ((*rows)[0].integer(1) > 0) {
    const Attempt<std::int64_t> sessions = database.integer("SELECT count(*) FROM session");
    if (!sessions) return tl::unexpected(sessions.error());
    stats.sessions = *sessions;
  }
  const Attempt<Rows> oldest = database.query("SELECT min(received_at) FROM request");
  if (!oldest) return tl::unexpected(oldest.error());
  stats.oldest_at = (*oldest)[0].maybe_integer(0);
  return stats;
}

Attempt<RowKey> find_unfinished(Database& database, const RequestOutcome& outcome) {
  const Value values[] = {std::string_view(outcome.id), std::string_view(outcome.key_name)};
  const Attempt<Rows> rows = database.query(
      "SELECT seq, received_at FROM request WHERE id = $1 AND coalesce(key_name, '') = $2 "
      "AND state IN ('running', 'interrupted') "
      "ORDER BY received_at DESC, seq DESC LIMIT 1",
      values);
  if (!rows) return tl::unexpected(rows.error());
  if (rows->empty()) return RowKey();
  return to_key((*rows)[0].integer(0), (*rows)[0].integer(1));
}

}  // namespace callgate::store
