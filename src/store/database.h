// One connection to a database, whichever engine it is. It blocks, and is used by one thread at a
// time.
//
// The same SQL serves both engines where it can. Parameters are written $1, $2, ...; flags are
// integers 0 and 1; times are Unix milliseconds. Statements are prepared once and kept under their
// text, so a caller uses the same text again rather than writing values into it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "store/database_options.h"
#include "store/fault.h"

namespace callgate::store {

enum class Engine : std::uint8_t { sqlite, postgresql };

std::string_view to_string(Engine engine);

struct Blob {
  std::string_view bytes;
};

// A parameter. Views must live until the call returns.
using Value = std::variant<std::monostate, std::int64_t, std::string_view, Blob>;

// NULL for an empty text.
inline Value text_or_null(std::string_view text) { return text.empty() ? Value() : Value(text); }
inline Value integer_or_null(std::optional<std::int64_t> value) {
  return value ? Value(*value) : Value();
}

using Cell = std::variant<std::monostate, std::int64_t, std::string>;

// What a query gave. Columns are counted from 0.
class Rows {
 public:
  class Row {
   public:
    bool is_null(std::size_t column) const { return cell(column).index() == 0; }
    // 0 for NULL.
    std::int64_t integer(std::size_t column) const;
    std::optional<std::int64_t> maybe_integer(std::size_t column) const;
    // Empty for NULL. Also for bytes.
    std::string text(std::size_t column) const;
    const Cell& cell(std::size_t column) const { return cells_[column]; }

   private:
    friend class Rows;
    explicit Row(const Cell* cells) : cells_(cells) {}
    const Cell* cells_;
  };

  explicit Rows(std::size_t columns = 0) : columns_(columns) {}
  void add(Cell cell) { cells_.push_back(std::move(cell)); }
  void add_null() { cells_.emplace_back(); }
  std::size_t size() const { return columns_ == 0 ? 0 : cells_.size() / columns_; }
  bool empty() const { return size() == 0; }
  // Valid as long as the rows.
  Row operator[](std::size_t row) const { return Row(cells_.data() + row * columns_); }

 private:
  std::size_t columns_;
  std::vector<Cell> cells_;
};

// One statement of a batch.
struct Command {
  std::string_view sql;
  std::span<const Value> values;
};

class Database {
 public:
  virtual ~Database() = default;

  virtual Engine engine() const = 0;
  // Statements without parameters, several separated by `;`.
  virtual Attempt<void> run(const std::string& script) = 0;
  virtual Attempt<Rows> query(std::string_view sql, std::span<const Value> values = {}) = 0;
  // Gives how many rows were changed.
  virtual Attempt<std::int64_t> change(std::string_view sql, std::span<const Value> values) = 0;
  // All in one transaction, for PostgreSQL in one round trip; gives how many rows each changed. A
  // fault leaves nothing behind, save when it is `lost` or `timed_out`: then all or nothing was
  // done. REQUIRES: no transaction is open.
  virtual Attempt<std::vector<std::int64_t>> batch(std::span<const Command> commands) = 0;
  // What begins a transaction that writes.
  virtual const char* begin_writing() const = 0;
  // Whether what is written still goes where it should: the file may have been deleted, replaced or truncated (`gone`).
  // Cheap enough for every transaction; waits a moment when it must look twice.
  virtual Attempt<void> verify() { return {}; }
  // For statements that may take long. SQLite has no such limit.
  virtual Attempt<void> set_statement_timeout(std::chrono::milliseconds timeout) = 0;

  // The first column of the first row; 0 if there is no row.
  Attempt<std::int64_t> integer(std::string_view sql, std::span<const Value> values = {});
};

// Rolls back when it is destroyed before commit().
class Transaction {
 public:
  // `begin` is such as "BEGIN EXCLUSIVE"; nullptr: what the engine needs for writing.
  static Attempt<Transaction> begin(Database& database, const char* begin = nullptr);
  Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();

  Attempt<void> commit();

 private:
  explicit Transaction(Database& database) : database_(&database) {}
  Database* database_;
};

// `sqlite:PATH`, `sqlite::memory:` or `postgresql://...`, without looking at the schema; see
// migration.h for that. A SQLite file is created when it is not there.
Attempt<std::unique_ptr<Database>> open_database(std::string_view url,
                                                 const DatabaseOptions& options);

// A URL to show: without password.
std::string shown_url(std::string_view url);

}  // namespace callgate::store
