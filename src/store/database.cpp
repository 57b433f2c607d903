#include "store/database.h"

#include <charconv>

#include "store/postgres.h"
#include "store/sqlite_database.h"

namespace callgate::store {

std::string_view to_string(Engine engine) {
  switch (engine) {
    case Engine::sqlite:
      return "sqlite";
    case Engine::postgresql:
      return "postgresql";
  }
  return {};
}

std::int64_t Rows::Row::integer(std::size_t column) const {
  if (const auto* number = std::get_if<std::int64_t>(&cell(column))) return *number;
  std::int64_t number = 0;
  if (const auto* text = std::get_if<std::string>(&cell(column))) {
    std::from_chars(text->data(), text->data() + text->size(), number);
  }
  return number;
}

std::optional<std::int64_t> Rows::Row::maybe_integer(std::size_t column) const {
  if (is_null(column)) return std::nullopt;
  return integer(column);
}

std::string Rows::Row::text(std::size_t column) const {
  if (const auto* text = std::get_if<std::string>(&cell(column))) return *text;
  if (const auto* number = std::get_if<std::int64_t>(&cell(column))) return std::to_string(*number);
  return {};
}

Attempt<std::int64_t> Database::integer(std::string_view sql, std::span<const Value> values) {
  const Attempt<Rows> rows = query(sql, values);
  if (!rows) return tl::unexpected(rows.error());
  return rows->empty() ? 0 : (*rows)[0].integer(0);
}

Attempt<Transaction> Transaction::begin(Database& database, const char* begin) {
  const Attempt<void> begun = database.run(begin ? begin : database.begin_writing());
  if (!begun) return tl::unexpected(begun.error());
  return Transaction(database);
}

// Some faults roll back by themselves; a second ROLLBACK then fails, and that is fine.
Transaction::~Transaction() {
  if (database_) static_cast<void>(database_->run("ROLLBACK"));
}

Attempt<void> Transaction::commit() {
  const Attempt<void> committed = database_->run("COMMIT");
  if (committed) database_ = nullptr;
  return committed;
}

Attempt<std::unique_ptr<Database>> open_database(std::string_view url,
                                                 const DatabaseOptions& options) {
  constexpr std::string_view kSqlite = "sqlite:";
  const auto widen = [](auto opened) -> Attempt<std::unique_ptr<Database>> {
    if (!opened) return tl::unexpected(opened.error());
    return std::unique_ptr<Database>(std::move(*opened));
  };
  if (url.starts_with(kSqlite) && url.size() > kSqlite.size()) {
    return widen(SqliteDatabase::open(std::string(url.substr(kSqlite.size())), options));
  }
  if (is_postgres_url(url)) return widen(PostgresDatabase::open(std::string(url), options));
  // The URL may hold a password: only its scheme is shown.
  return fault(FaultKind::cannot_open, "\"" + std::string(url.substr(0, url.find(':'))) +
                                           "\", expected sqlite:PATH, sqlite::memory: or "
                                           "postgresql://HOST/DATABASE");
}

std::string shown_url(std::string_view url) {
  constexpr std::string_view kSqlite = "sqlite:";
  if (url.starts_with(kSqlite)) return std::string(url.substr(kSqlite.size()));
  return shown_postgres_url(url);
}

}  // namespace callgate::store
