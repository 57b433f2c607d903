#include "store/sqlite_database.h"

#include <array>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

#include "store/migration.h"

namespace callgate::store {
namespace {

constexpr std::size_t kHeaderSize = 100;
constexpr std::size_t kApplicationIdOffset = 68;
// Searches are written as they are asked for; beyond this many all statements are forgotten.
constexpr std::size_t kKeptStatements = 200;

// SQLite would number $1 by where it stands; ?1 is what PostgreSQL means by it.
std::string numbered(std::string_view sql) {
  std::string text(sql);
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    if (text[i] == '$' && std::isdigit(static_cast<unsigned char>(text[i + 1]))) text[i] = '?';
  }
  return text;
}

void bind(Statement& statement, int parameter, const Value& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) {
    statement.bind(parameter, *number);
  } else if (const auto* text = std::get_if<std::string_view>(&value)) {
    statement.bind(parameter, *text);
  } else if (const auto* blob = std::get_if<Blob>(&value)) {
    statement.bind_bytes(parameter, blob->bytes);
  } else {
    statement.bind_null(parameter);
  }
}

}  // namespace

Attempt<std::unique_ptr<SqliteDatabase>> SqliteDatabase::open(const std::string& path,
                                                              const DatabaseOptions& options) {
  const bool in_memory = path == ":memory:";
  if (!in_memory) {
    const Attempt<void> ready = prepare_file(path, options.must_exist);
    if (!ready) return tl::unexpected(ready.error());
  }
  Attempt<Connection> connection = Connection::open(path, options.busy_timeout);
  if (!connection) return tl::unexpected(connection.error());
  std::unique_ptr<SqliteDatabase> database(new SqliteDatabase(std::move(*connection), options));
  if (in_memory) return database;
  make_private(path);
  database->file_.emplace(path);
  database->log_.emplace(path + "-wal");
  return database;
}

// A checkpoint each 4,000 pages instead of 1,000: every batch touches the same few pages again. A new file gets pages of 8 KiB: a
// batch writes half as many of them, which saves a tenth of the writer's time; larger ones make a lone row dear.
Attempt<void> SqliteDatabase::configure() {
  const bool full = options_.synchronous == Synchronous::full;
  std::string sql =
      "PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 4000;"
      "PRAGMA secure_delete = OFF; PRAGMA temp_store = MEMORY;";
  sql += full ? "PRAGMA synchronous = FULL;" : "PRAGMA synchronous = NORMAL;";
  if (options_.max_pages > 0) {
    sql += "PRAGMA max_page_count = " + std::to_string(options_.max_pages) + ";";
  }
  return connection_.run(sql);
}

Attempt<Statement*> SqliteDatabase::prepare(std::string_view sql, std::span<const Value> values) {
  auto found = statements_.find(sql);
  if (found == statements_.end()) {
    if (statements_.size() >= kKeptStatements) statements_.clear();
    Attempt<Statement> prepared = connection_.prepare(numbered(sql));
    if (!prepared) return tl::unexpected(prepared.error());
    found = statements_.emplace(sql, std::move(*prepared)).first;
  }
  int parameter = 1;
  for (const Value& value : values) bind(found->second, parameter++, value);
  return &found->second;
}

Attempt<Rows> SqliteDatabase::query(std::string_view sql, std::span<const Value> values) {
  const Attempt<Statement*> statement = prepare(sql, values);
  if (!statement) return tl::unexpected(statement.error());
  const int columns = (*statement)->columns();
  Rows rows(static_cast<std::size_t>(columns));
  Attempt<bool> row = (*statement)->step();
  for (; row && *row; row = (*statement)->step()) {
    for (int column = 0; column < columns; ++column) {
      if ((*statement)->is_null(column)) {
        rows.add_null();
      } else if ((*statement)->is_integer(column)) {
        rows.add((*statement)->integer(column));
      } else {
        rows.add((*statement)->text(column));
      }
    }
  }
  (*statement)->reset();
  if (!row) return tl::unexpected(row.error());
  return rows;
}

Attempt<std::int64_t> SqliteDatabase::change(std::string_view sql, std::span<const Value> values) {
  const Attempt<Statement*> statement = prepare(sql, values);
  if (!statement) return tl::unexpected(statement.error());
  const Attempt<void> changed = (*statement)->run();
  if (!changed) return tl::unexpected(changed.error());
  return connection_.changes();
}

Attempt<std::vector<std::int64_t>> SqliteDatabase::batch(std::span<const Command> commands) {
  Attempt<Transaction> transaction = Transaction::begin(*this);
  if (!transaction) return tl::unexpected(transaction.error());
  std::vector<std::int64_t> changes;
  changes.reserve(commands.size());
  for (const Command& command : commands) {
    const Attempt<std::int64_t> changed = change(command.sql, command.values);
    if (!changed) return tl::unexpected(changed.error());
    changes.push_back(*changed);
  }
  const Attempt<void> committed = transaction->commit();
  if (!committed) return tl::unexpected(committed.error());
  return changes;
}

bool looks_like_ours(const std::string& path) {
  std::array<unsigned char, kHeaderSize> header{};
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             &std::fclose);
  if (!file || std::fread(header.data(), 1, header.size(), file.get()) != header.size()) {
    return false;
  }
  std::int64_t owner = 0;
  for (std::size_t i = 0; i < 4; ++i) owner = owner << 8 | header[kApplicationIdOffset + i];
  return std::memcmp(header.data(), "SQLite format 3", 16) == 0 && owner == kApplicationId;
}

Attempt<void> SqliteDatabase::verify() {
  if (!file_) return {};
  log_->look_again();
  for (const FileMark* mark : {&*file_, &*log_}) {
    if (const auto change = mark->change()) {
      return fault(FaultKind::gone, *change + " while it was in use");
    }
  }
  return check_size();
}

// A checkpoint writes the first page before those that make the file larger, so a file that is too short gets a moment:
// it is truncated when nothing happens to it.
Attempt<void> SqliteDatabase::check_size() {
  constexpr std::chrono::milliseconds kStep{20};
  constexpr int kStill = 20;
  constexpr int kMost = 250;
  Connection::FileSize before;
  int still = 0;
  for (int look = 0; look < kMost; ++look) {
    const Connection::FileSize size = connection_.file_size();
    if (size.actual >= size.stated && size.actual > 0) return {};
    still = size == before ? still + 1 : 0;
    if (still == kStill) {
      return fault(FaultKind::truncated, file_->path() + " was truncated while it was in use");
    }
    before = size;
    std::this_thread::sleep_for(kStep);
  }
  return {};
}

}  // namespace callgate::store
