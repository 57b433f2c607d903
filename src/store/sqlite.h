// SQLite as values: a connection and its statements that close themselves, faults named for what
// the writer does next. Neither type is safe to use from two threads at once.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

struct sqlite3;
struct sqlite3_stmt;

namespace callgate::store {

enum class FaultKind : std::uint8_t {
  busy,         // another process holds the file: wait
  full,         // no space: wait
  read_only,    // wait and open again
  cannot_open,  // the path is wrong or forbidden
  corrupt,      // the file is damaged
  not_ours,     // the file belongs to something else
  too_new,      // a newer callgate wrote it
  bad_row,      // this row will never fit; the others may
  other,
};

struct Fault {
  FaultKind kind = FaultKind::other;
  std::string message;
};

template <class T>
using Attempt = tl::expected<T, Fault>;

inline tl::unexpected<Fault> fault(FaultKind kind, std::string message) {
  return tl::unexpected<Fault>(Fault{kind, std::move(message)});
}

// Parameters and columns are counted as SQLite counts them: from 1 and from 0.
class Statement {
 public:
  // `value` must live until the next reset().
  void bind(int parameter, std::string_view value);
  void bind(int parameter, std::int64_t value);
  void bind_null(int parameter);

  // True when a row is there to be read, false when the statement is done.
  Attempt<bool> step();
  // Runs a statement that gives no rows, and resets it.
  Attempt<void> run();
  void reset();

  bool is_null(int column) const;
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
  std::int64_t last_row_id() const;
  std::int64_t changes() const;

 private:
  struct Close {
    void operator()(sqlite3* connection) const;
  };
  std::unique_ptr<sqlite3, Close> connection_;
};

// Rolls back when it is destroyed before commit().
class Transaction {
 public:
  // `begin` is such as "BEGIN IMMEDIATE".
  static Attempt<Transaction> begin(Connection& connection, const char* begin);
  Transaction(Transaction&& other) noexcept
      : connection_(std::exchange(other.connection_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();

  Attempt<void> commit();

 private:
  explicit Transaction(Connection& connection) : connection_(&connection) {}
  Connection* connection_;
};

}  // namespace callgate::store
