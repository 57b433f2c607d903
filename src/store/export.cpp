#include "store/export.h"

#include "base/base64.h"
#include "base/utf8.h"
#include "json/writer.h"
#include "store/content_codec.h"
#include "store/migration.h"
#include "store/search/search_index.h"
#include "store/store_tables.h"

namespace callgate::store {
namespace {

constexpr std::size_t kPage = 500;

std::string join(const std::vector<std::string>& names, std::string_view prefix = {}) {
  std::string list;
  for (const std::string& name : names) {
    if (!list.empty()) list += ", ";
    list += std::string(prefix) + name;
  }
  return list;
}

std::string select_sql(Database& database, const StoreTable& table,
                       const std::vector<StoreColumn>& columns) {
  if (table.name == "request_search" && database.engine() == Engine::sqlite) {
    return "SELECT r.received_at, s.rowid AS seq, s.text FROM request_search s JOIN request r ON "
           "r.seq = s.rowid";
  }
  std::vector<std::string> names;
  for (const StoreColumn& column : columns) names.push_back(column.name);
  return "SELECT " + join(names) + " FROM " + std::string(table.name);
}

// Page after page of one table in the order of its key.
class TableReader {
 public:
  TableReader(Database& database, const StoreTable& table, const std::vector<StoreColumn>& columns)
      : database_(database), key_(split_key(table.key)) {
    select_ = select_sql(database, table, columns);
    for (const std::string& name : key_) {
      for (std::size_t i = 0; i < columns.size(); ++i) {
        if (columns[i].name == name) key_columns_.push_back(i);
      }
    }
  }

  // PostgreSQL has no index in this order, so it sorts once, for a cursor.
  Attempt<void> begin() {
    if (database_.engine() == Engine::sqlite) return {};
    return database_.run("DECLARE rows NO SCROLL CURSOR FOR " + select_ + " ORDER BY " +
                         join(key_));
  }
  Attempt<Rows> next() {
    if (database_.engine() == Engine::postgresql) {
      return database_.query("FETCH FORWARD " + std::to_string(kPage) + " FROM rows");
    }
    std::string sql = "SELECT * FROM (" + select_ + ")";
    std::vector<Value> values;
    if (!last_.empty()) {
      std::vector<std::string> parameters;
      for (const Cell& cell : last_) {
        if (const auto* number = std::get_if<std::int64_t>(&cell)) {
          values.emplace_back(*number);
        } else {
          values.emplace_back(std::string_view(std::get<std::string>(cell)));
        }
        parameters.push_back("$" + std::to_string(values.size()));
      }
      sql += " WHERE (" + join(key_) + ") > (" + join(parameters) + ")";
    }
    Attempt<Rows> rows = database_.query(
        sql + " ORDER BY " + join(key_) + " LIMIT " + std::to_string(kPage), values);
    if (rows && !rows->empty()) remember((*rows)[rows->size() - 1]);
    return rows;
  }
  Attempt<void> end() {
    if (database_.engine() == Engine::sqlite) return {};
    return database_.run("CLOSE rows");
  }

 private:
  void remember(const Rows::Row& row) {
    last_.clear();
    for (const std::size_t column : key_columns_) last_.push_back(row.cell(column));
  }
  Database& database_;
  const std::vector<std::string> key_;
  std::string select_;
  std::vector<std::size_t> key_columns_;
  std::vector<Cell> last_;
};

void append_bytes(std::string& out, std::string_view bytes) {
  if (utf8::is_valid(bytes)) return json::append_string(out, bytes);
  out += "{\"base64\":\"";
  base64::append_encoded(out, bytes);
  out += "\"}";
}

std::string to_line(const StoreTable& table, const std::vector<StoreColumn>& columns,
                    const Rows::Row& row) {
  std::string line = "{\"table\":\"" + std::string(table.name) + "\",\"row\":";
  json::ObjectWriter object(line);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const StoreColumn& column = columns[i];
    if (row.is_null(i)) continue;
    if (column.is_blob) {
      append_bytes(object.key(column.name), row.text(i));
    } else if (std::holds_alternative<std::int64_t>(row.cell(i))) {
      object.integer(column.name, row.integer(i));
    } else {
      object.string(column.name, row.text(i));
    }
  }
  object.close();
  return line + "}";
}

// One line for each part, however many a row holds.
class ContentLines {
 public:
  explicit ContentLines(const std::vector<StoreColumn>& columns) {
    const auto find = [&](std::string_view name) {
      std::size_t column = 0;
      while (columns[column].name != name) ++column;
      return column;
    };
    body_ = find("body");
    codec_ = find("codec");
    place_ = find("place");
    received_at_ = find("received_at");
  }
  Attempt<std::vector<std::string>> lines_of(const Rows::Row& row) {
    const std::int64_t first = row.integer(place_) / 4 * 4;
    const auto parts = decode_content(row.integer(place_), row.integer(codec_), row.text(body_));
    if (!parts) return tl::unexpected(parts.error());
    std::vector<std::string> lines;
    for (std::size_t part = 0; part < kSearchPart; ++part) {
      const std::int64_t place = first + static_cast<std::int64_t>(part);
      // A request that was written twice, at first without its end, has its beginning twice.
      if ((*parts)[part].empty() || place <= last_) continue;
      last_ = place;
      std::string& line = lines.emplace_back("{\"table\":\"content\",\"row\":");
      json::ObjectWriter object(line);
      append_bytes(object.key("body"), (*parts)[part]);
      object.integer("place", place);
      object.integer("received_at", row.integer(received_at_));
      object.close();
      line += "}";
    }
    return lines;
  }

 private:
  std::size_t body_ = 0;
  std::size_t codec_ = 0;
  std::size_t place_ = 0;
  std::size_t received_at_ = 0;
  std::int64_t last_ = -1;
};

tl::unexpected<Fault> cannot_write() {
  return fault(FaultKind::full, "the lines cannot be written");
}

// Texts that came after all were indexed. A store that was not migrated yet has none.
Attempt<std::int64_t> export_waiting(Database& database, const LineSink& sink) {
  const Attempt<std::vector<StoreColumn>> columns =
      store_columns(database, {"search_waiting", "seq"});
  if (!columns) return tl::unexpected(columns.error());
  if (columns->empty()) return 0;
  std::int64_t count = 0;
  for (std::int64_t last = -1;;) {
    const Attempt<std::vector<WaitingText>> texts = waiting_texts(database, last, kPage);
    if (!texts) return tl::unexpected(texts.error());
    if (texts->empty()) return count;
    last = texts->back().seq;
    for (const WaitingText& waiting : *texts) {
      if (waiting.text.empty()) continue;
      std::string line = "{\"table\":\"request_search\",\"row\":";
      json::ObjectWriter object(line);
      object.integer("received_at", waiting.received_at);
      object.integer("seq", waiting.seq);
      object.string("text", waiting.text);
      object.close();
      if (!sink(line + "}")) return cannot_write();
      ++count;
    }
  }
}

Attempt<std::int64_t> export_table(Database& database, const StoreTable& table,
                                   const LineSink& sink, const Progress& progress) {
  const Attempt<std::vector<StoreColumn>> columns = store_columns(database, table);
  if (!columns) return tl::unexpected(columns.error());
  if (columns->empty()) return 0;
  TableReader reader(database, table, *columns);
  if (const Attempt<void> begun = reader.begin(); !begun) return tl::unexpected(begun.error());
  std::optional<ContentLines> content;
  if (table.name == "content") content.emplace(*columns);
  std::int64_t count = 0;
  for (;;) {
    const Attempt<Rows> rows = reader.next();
    if (!rows) return tl::unexpected(rows.error());
    if (rows->empty()) break;
    for (std::size_t i = 0; i < rows->size(); ++i) {
      const Rows::Row row = (*rows)[i];
      const Attempt<std::vector<std::string>> lines =
          content ? content->lines_of(row) : std::vector{to_line(table, *columns, row)};
      if (!lines) return tl::unexpected(lines.error());
      for (const std::string& line : *lines) {
        if (!sink(line)) return cannot_write();
        ++count;
      }
    }
    if (progress) progress(table.name, count);
  }
  if (const Attempt<void> ended = reader.end(); !ended) return tl::unexpected(ended.error());
  return count;
}

}  // namespace

Attempt<std::int64_t> export_store(Database& database, const LineSink& sink,
                                   const Progress& progress) {
  const bool sqlite = database.engine() == Engine::sqlite;
  // Only for the order of lines: what still waits is written as well.
  static_cast<void>(index_waiting(database));
  Attempt<Transaction> transaction = Transaction::begin(
      database, sqlite ? "BEGIN" : "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
  if (!transaction) return tl::unexpected(transaction.error());
  const Attempt<int> schema = schema_version(database);
  if (!schema) return tl::unexpected(schema.error());
  if (!sink("{\"callgate_store\":1,\"schema\":" + std::to_string(*schema) + "}")) {
    return cannot_write();
  }
  std::int64_t count = 0;
  for (const StoreTable& table : store_tables()) {
    Attempt<std::int64_t> rows = export_table(database, table, sink, progress);
    if (!rows) return rows;
    count += *rows;
    if (table.name != "request_search") continue;
    rows = export_waiting(database, sink);
    if (!rows) return rows;
    count += *rows;
  }
  return count;
}

namespace {

struct Question {
  std::string_view sql;
  std::string_view fault;  // told with the number that the question gives
};

Attempt<void> look(Database& database, const Question& question, CheckReport& report) {
  const Attempt<std::int64_t> count = database.integer(question.sql);
  if (!count) return tl::unexpected(count.error());
  if (*count > 0) report.faults.push_back(std::to_string(*count) + std::string(question.fault));
  return {};
}

Attempt<void> check_file(Database& database, CheckReport& report) {
  const Attempt<Rows> rows = database.query("PRAGMA integrity_check(20)");
  if (!rows) return tl::unexpected(rows.error());
  for (std::size_t i = 0; i < rows->size(); ++i) {
    if ((*rows)[i].text(0) != "ok") report.faults.push_back((*rows)[i].text(0));
  }
  return {};
}

}  // namespace

Attempt<CheckReport> check_store(Database& database) {
  const bool sqlite = database.engine() == Engine::sqlite;
  CheckReport report{.latest = migrations(database.engine()).back().version};
  const Attempt<int> schema = schema_version(database);
  if (!schema) return tl::unexpected(schema.error());
  report.schema = *schema;
  if (sqlite) {
    const Attempt<void> file = check_file(database, report);
    if (!file) return tl::unexpected(file.error());
  }
  if (report.schema != report.latest) {
    report.faults.push_back("schema version " + std::to_string(report.schema) + ", expected " +
                            std::to_string(report.latest) + ": run callgate store migrate");
    return report;
  }
  const Attempt<std::int64_t> requests = database.integer("SELECT count(*) FROM request");
  if (!requests) return tl::unexpected(requests.error());
  report.requests = *requests;
  const Question questions[] = {
      {"SELECT count(*) FROM content c WHERE NOT EXISTS (SELECT 1 FROM request r WHERE r.seq = "
       "c.place / 4 AND r.received_at = c.received_at)",
       " bodies belong to no request"},
      {"SELECT count(*) FROM call c WHERE NOT EXISTS (SELECT 1 FROM request r WHERE r.seq = c.seq "
       "AND r.received_at = c.received_at)",
       " calls belong to no request"},
      {sqlite ? "SELECT count(*) FROM request_search s WHERE NOT EXISTS (SELECT 1 FROM request r "
                "WHERE r.seq = s.rowid)"
              : "SELECT count(*) FROM request_search s WHERE NOT EXISTS (SELECT 1 FROM request r "
                "WHERE r.seq = s.seq AND r.received_at = s.received_at)",
       " search texts belong to no request"},
      {"SELECT count(*) FROM request WHERE state <> 'completed' AND state = 'running' AND run IN "
       "(SELECT id FROM run WHERE ended_at IS NOT NULL)",
       " requests run although their process has ended"},
      {"SELECT count(*) FROM memory m WHERE m.messages <> (SELECT count(*) FROM memory_message s "
       "WHERE s.key_name = m.key_name AND s.conversation = m.conversation)",
       " conversations lack messages"},
  };
  for (const Question& question : questions) {
    const Attempt<void> looked = look(database, question, report);
    if (!looked) return tl::unexpected(looked.error());
  }
  return report;
}

}  // namespace callgate::store
