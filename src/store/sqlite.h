// SQLite as values: a connection and its statements that close themselves, faults named for what
// the writer does next. Neither type is safe to use from two threads at once.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/library_version.h"
#include "store/fault.h"

struct sqlite3;
struct sqlite3_stmt;

namespace callgate::store {

LibraryVersion sqlite_version();

// Parameters and columns are counted as SQLite counts them: from 1 and from 0.
class Statement {
 public:
  // `value` must live until the next reset().
  void bind(int parameter, std::string_view value);
  void bind(int parameter, std::int64_t value);
  void bind_bytes(int parameter, std::string_view value);
  void bind_null(int parameter);

  // True when a row is there to be read, false when the statement is done.
  Attempt<bool> step();
  // Runs a statement that gives no rows, and resets it.
  Attempt<void> run();
  void reset();

  int columns() const;
  bool is_null(int column) const;
  bool is_integer(int column) const;
  std::int64_t integer(int column) const;
  std::string text(int column) const;

 private:
  friend class Connection;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

class Connection {
 public:
  // `:memory:` opens a database that lives as long as the connection.
  static Attempt<Connection> open(const std::string& path, std::chrono::milliseconds busy_timeout);

  Attempt<void> run(const std::string& sql);
  Attempt<std::int64_t> integer(const std::string& sql);
  Attempt<Statement> prepare(std::string_view sql);
  std::int64_t changes() const;
  // How large the open file is, and how large its first page says it should be; 0 when that page does not say. Read through
  // SQLite's own descriptor: to open and close another would drop its locks.
  struct FileSize {
    std::int64_t actual = 0;
    std::int64_t stated = 0;
    bool operator==(const FileSize&) const = default;
  };
  FileSize file_size() const;

 private:
  struct Close {
    void operator()(sqlite3* connection) const;
  };
  std::unique_ptr<sqlite3, Close> connection_;
};

}  // namespace callgate::store
