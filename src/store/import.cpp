#include <set>

#include "base/base64.h"
#include "json/reader.h"
#include "store/content_codec.h"
#include "store/export.h"
#include "store/postgres_run.h"
#include "store/request_row.h"
#include "store/store_tables.h"

namespace callgate::store {
namespace {

constexpr std::size_t kImportedAtOnce = 200;

// One table of the store that is written to.
struct Target {
  std::vector<StoreColumn> columns;
  std::string insert;
};

std::string insert_sql(Engine engine, const StoreTable& table,
                       const std::vector<StoreColumn>& columns) {
  std::string names;
  for (const StoreColumn& column : columns) {
    if (!names.empty()) names += ", ";
    const bool is_row_id =
        column.name == "seq" && table.name == "request_search" && engine == Engine::sqlite;
    names += is_row_id ? "rowid" : column.name;
  }
  const std::string parameters = parameter_rows(columns.size(), 1);
  const std::string head = "INSERT INTO " + std::string(table.name) + " (" + names;
  if (table.name != "run" || engine == Engine::sqlite) return head + ") VALUES " + parameters;
  // A run that comes from elsewhere is not seen again.
  return head + ", seen_at) OVERRIDING SYSTEM VALUE VALUES " +
         parameters.substr(0, parameters.size() - 1) + ", 0)";
}

class Importer {
 public:
  explicit Importer(Database& database) : database_(database) {}

  Attempt<void> prepare() {
    for (const StoreTable& table : store_tables()) {
      Attempt<std::vector<StoreColumn>> columns = store_columns(database_, table);
      if (!columns) return tl::unexpected(columns.error());
      // In SQLite it stands in the row of the request.
      if (table.name == "request_search" && database_.engine() == Engine::sqlite) {
        columns->erase(columns->begin());
      }
      Target& target = targets_.emplace_back();
      target.insert = insert_sql(database_.engine(), table, *columns);
      target.columns = std::move(*columns);
      if (target.columns.empty()) continue;
      const Attempt<std::int64_t> rows =
          database_.integer("SELECT count(*) FROM (SELECT 1 FROM " + std::string(table.name) +
                            " LIMIT 1) AS first_row");
      if (!rows) return tl::unexpected(rows.error());
      if (*rows > 0 && table.name != "run") {
        return fault(FaultKind::bad_row, "the store is not empty: import into a new one");
      }
    }
    // A log that was opened but never used left a run; its number is needed.
    return database_.run("DELETE FROM run");
  }

  // bad_row with what is wrong about the line.
  Attempt<std::string_view> add(std::string line);
  Attempt<void> flush();
  Attempt<void> finish();

 private:
  struct Row {
    std::size_t table = 0;
    std::vector<Cell> cells;
  };
  Attempt<void> read_row(json::Reader& in, Row& row);
  Attempt<Cell> read_value(json::Reader& in);
  Attempt<void> make_days();

  Database& database_;
  std::vector<Target> targets_;  // as store_tables()
  std::vector<Row> rows_;
  std::set<std::int64_t> days_;  // that have a partition
  ContentEncoder encoder_;
};

Attempt<Cell> Importer::read_value(json::Reader& in) {
  switch (in.peek()) {
    case json::Kind::string:
      return Cell(std::string(in.string()));
    case json::Kind::number: {
      const std::optional<std::int64_t> number = in.integer();
      if (number) return Cell(*number);
      return fault(FaultKind::bad_row, "a number is not an integer");
    }
    case json::Kind::object: {
      std::optional<std::string> bytes;
      for (std::string_view key; in.next_member(key);) {
        if (key != "base64") return fault(FaultKind::bad_row, "expected base64");
        bytes = base64::decode(in.string());
      }
      if (bytes) return Cell(std::move(*bytes));
      return fault(FaultKind::bad_row, "expected base64");
    }
    case json::Kind::null:
      in.null();
      return Cell();
    case json::Kind::array:
    case json::Kind::boolean:
    case json::Kind::invalid:
      break;
  }
  return fault(FaultKind::bad_row, "expected a text, an integer or base64");
}

Attempt<void> Importer::read_row(json::Reader& in, Row& row) {
  const Target& target = targets_[row.table];
  row.cells.resize(target.columns.size());
  for (std::string_view key; in.next_member(key);) {
    std::size_t column = 0;
    while (column < target.columns.size() && target.columns[column].name != key) ++column;
    const bool known = column < target.columns.size();
    const std::string name(key);
    Attempt<Cell> value = read_value(in);
    if (!value) return fault(FaultKind::bad_row, name + ": " + value.error().message);
    if (known) {
      row.cells[column] = std::move(*value);
    } else if (name != "received_at") {
      return fault(FaultKind::bad_row, name + ": this store has no such column");
    }
  }
  return {};
}

Attempt<std::string_view> Importer::add(std::string line) {
  json::Reader in(line);
  std::optional<Row> row;
  for (std::string_view key; in.next_member(key);) {
    if (key == "table") {
      const std::string_view name = in.string();
      for (std::size_t i = 0; i < store_tables().size(); ++i) {
        if (store_tables()[i].name == name && !targets_[i].columns.empty()) row = Row{.table = i};
      }
      if (!row) return fault(FaultKind::bad_row, "table: this store has no such table");
    } else if (key == "row" && row) {
      const Attempt<void> read = read_row(in, *row);
      if (!read) return tl::unexpected(read.error());
    } else {
      in.skip();
    }
  }
  if (!in.finish() || !row) return fault(FaultKind::bad_row, "expected a table and its row");
  rows_.push_back(std::move(*row));
  const std::string_view table = store_tables()[rows_.back().table].name;
  if (rows_.size() >= kImportedAtOnce) {
    const Attempt<void> flushed = flush();
    if (!flushed) return tl::unexpected(flushed.error());
  }
  return table;
}

// So that the rows do not end up in the default partition, where no day can be dropped.
Attempt<void> Importer::make_days() {
  if (database_.engine() == Engine::sqlite) return {};
  for (const Row& row : rows_) {
    const std::vector<StoreColumn>& columns = targets_[row.table].columns;
    if (store_tables()[row.table].name != "request") continue;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const auto* time = std::get_if<std::int64_t>(&row.cells[i]);
      if (columns[i].name != "received_at" || !time || *time < 0) continue;
      if (!days_.insert(*time / kDay).second) continue;
      const Attempt<void> made = make_partitions(database_, *time / kDay);
      if (!made && !keeps_connection(made.error().kind)) return made;
    }
  }
  return {};
}

Attempt<void> Importer::flush() {
  const Attempt<void> made = make_days();
  if (!made) return made;
  std::vector<std::vector<Value>> values(rows_.size());
  std::vector<std::string> encoded;
  encoded.reserve(rows_.size());  // no view into it may move
  std::vector<Command> commands;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const Target& target = targets_[rows_[i].table];
    const bool is_content = store_tables()[rows_[i].table].name == "content";
    ContentEncoder::Encoded body;
    for (std::size_t c = 0; c < target.columns.size(); ++c) {
      const Cell& cell = rows_[i].cells[c];
      const auto* text = std::get_if<std::string>(&cell);
      if (is_content && target.columns[c].name == "body" && text) {
        body = encoder_.encode(*text);
        const bool plain = body.codec == Codec::plain;
        encoded.push_back(std::move(body.bytes));
        values[i].emplace_back(Blob{plain ? std::string_view(*text) : encoded.back()});
      } else if (is_content && target.columns[c].name == "codec") {
        values[i].emplace_back(static_cast<std::int64_t>(body.codec));
      } else if (text && target.columns[c].is_blob) {
        values[i].emplace_back(Blob{*text});
      } else if (text) {
        values[i].emplace_back(std::string_view(*text));
      } else if (const auto* number = std::get_if<std::int64_t>(&cell)) {
        values[i].emplace_back(*number);
      } else {
        values[i].emplace_back();
      }
    }
    commands.push_back({target.insert, values[i]});
  }
  if (commands.empty()) return {};
  const Attempt<std::vector<std::int64_t>> done = database_.batch(commands);
  rows_.clear();
  if (!done) return tl::unexpected(done.error());
  return {};
}

// New runs must not be given the numbers of those that were imported.
Attempt<void> Importer::finish() {
  const Attempt<void> flushed = flush();
  if (!flushed || database_.engine() == Engine::sqlite) return flushed;
  return database_.run(
      "SELECT setval(pg_get_serial_sequence('run', 'id'), (SELECT coalesce(max(id), 0) + 1 FROM "
      "run), false)");
}

bool is_head(std::string_view line) {
  json::Reader in(line);
  bool known = false;
  for (std::string_view key; in.next_member(key);) {
    if (key == "callgate_store") {
      known = in.integer() == 1;
    } else {
      in.skip();
    }
  }
  return in.finish() && known;
}

}  // namespace

Attempt<std::int64_t> import_store(Database& database, const LineSource& source,
                                   const Progress& progress) {
  Importer importer(database);
  const Attempt<void> ready = importer.prepare();
  if (!ready) return tl::unexpected(ready.error());
  std::int64_t number = 1;
  std::optional<std::string> line = source();
  if (!line || !is_head(*line)) {
    return fault(FaultKind::bad_row, "line 1: expected what callgate store export writes");
  }
  const auto explain = [&](const Fault& why) {
    return fault(why.kind, "line " + std::to_string(number) + ": " + why.message);
  };
  for (line = source(); line; line = source()) {
    ++number;
    if (line->empty()) continue;
    const Attempt<std::string_view> table = importer.add(std::move(*line));
    if (!table) return explain(table.error());
    if (progress && number % 1000 == 0) progress(*table, number - 1);
  }
  const Attempt<void> finished = importer.finish();
  if (!finished) return explain(finished.error());
  return number - 1;
}

}  // namespace callgate::store
