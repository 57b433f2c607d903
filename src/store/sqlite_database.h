// A Database in an SQLite file, in WAL mode.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "store/database.h"
#include "store/sqlite.h"
#include "store/sqlite_files.h"

namespace callgate::store {

class SqliteDatabase final : public Database {
 public:
  // Leaves a file that is not callgate's as it is: configure() is what writes to it first.
  static Attempt<std::unique_ptr<SqliteDatabase>> open(const std::string& path,
                                                       const DatabaseOptions& options);

  Engine engine() const override { return Engine::sqlite; }
  Attempt<void> run(const std::string& script) override { return connection_.run(script); }
  Attempt<Rows> query(std::string_view sql, std::span<const Value> values = {}) override;
  Attempt<std::int64_t> change(std::string_view sql, std::span<const Value> values) override;
  Attempt<std::vector<std::int64_t>> batch(std::span<const Command> commands) override;
  const char* begin_writing() const override { return "BEGIN IMMEDIATE"; }
  Attempt<void> set_statement_timeout(std::chrono::milliseconds) override { return {}; }
  Attempt<void> verify() override;

  // Switches to WAL mode, which writes to the file.
  Attempt<void> configure();

 private:
  struct SqlHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view sql) const {
      return std::hash<std::string_view>()(sql);
    }
  };

  SqliteDatabase(Connection connection, const DatabaseOptions& options)
      : connection_(std::move(connection)), options_(options) {}
  // With the parameters bound.
  Attempt<Statement*> prepare(std::string_view sql, std::span<const Value> values);

  Attempt<void> check_size();

  // The statements must go before their connection.
  Connection connection_;
  const DatabaseOptions options_;
  std::optional<FileMark> file_;  // nothing in memory
  std::optional<FileMark> log_;
  std::unordered_map<std::string, Statement, SqlHash, std::equal_to<>> statements_;
};

// Whether the bytes at `path` begin as a database that callgate made.
bool looks_like_ours(const std::string& path);

}  // namespace callgate::store
