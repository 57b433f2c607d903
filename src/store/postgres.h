// A Database in PostgreSQL, through libpq's asynchronous API: each wait has a deadline, and a batch
// is one pipeline.
//
// A URL is what libpq takes, TLS included:
//   postgresql://callgate:secret@db.example/callgate?sslmode=verify-full&sslrootcert=/etc/ca.pem
// Statements are prepared on the server, so a pooler in between must keep a session to a server
// connection.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/library_version.h"
#include "store/database.h"

struct pg_conn;
struct pg_result;

namespace callgate::store {

LibraryVersion libpq_version();
bool is_postgres_url(std::string_view url);
std::string shown_postgres_url(std::string_view url);

class PostgresDatabase final : public Database {
 public:
  static Attempt<std::unique_ptr<PostgresDatabase>> open(const std::string& url,
                                                         const DatabaseOptions& options);

  Engine engine() const override { return Engine::postgresql; }
  Attempt<void> run(const std::string& script) override;
  Attempt<Rows> query(std::string_view sql, std::span<const Value> values = {}) override;
  Attempt<std::int64_t> change(std::string_view sql, std::span<const Value> values) override;
  Attempt<std::vector<std::int64_t>> batch(std::span<const Command> commands) override;
  const char* begin_writing() const override { return "BEGIN"; }
  Attempt<void> set_statement_timeout(std::chrono::milliseconds timeout) override;

  // Readable when the server has sent something without being asked, such as a notification.
  int socket() const;
  // What NOTIFY has sent since the last call, on channels that this connection listens to.
  Attempt<std::vector<std::string>> notices();

 private:
  struct Finish {
    void operator()(pg_conn* connection) const;
  };
  struct Clear {
    void operator()(pg_result* result) const;
  };
  using Result = std::unique_ptr<pg_result, Clear>;
  using Time = std::chrono::steady_clock::time_point;
  struct SqlHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view sql) const {
      return std::hash<std::string_view>()(sql);
    }
  };

  PostgresDatabase(pg_conn* connection, std::chrono::milliseconds timeout)
      : connection_(connection), timeout_(timeout) {}
  static Attempt<void> connect(pg_conn* connection, Time deadline);
  Time deadline() const;
  tl::unexpected<Fault> broken(std::string message);
  tl::unexpected<Fault> fault_of(const pg_result* result);

  // The name of the prepared statement; `fresh` when it must be prepared first.
  struct Prepared {
    std::string name;
    bool fresh = false;
  };
  Prepared name_of(std::string_view sql);
  Attempt<void> send_prepare(const std::string& name, std::string_view sql);
  Attempt<void> wait_for_result(Time deadline);
  // The next one; nothing at the end of a command.
  Attempt<Result> next(Time deadline);
  // The only result of a command that is not in a pipeline.
  Attempt<Result> finish_command(Time deadline);
  Attempt<Result> execute(std::string_view sql, std::span<const Value> values);
  Attempt<void> send_batch(std::span<const Command> commands, std::vector<bool>& counted);
  Attempt<std::vector<std::int64_t>> read_batch(const std::vector<bool>& counted);

  std::unique_ptr<pg_conn, Finish> connection_;
  std::chrono::milliseconds timeout_;
  std::unordered_map<std::string, std::string, SqlHash, std::equal_to<>> names_;
  std::uint64_t last_name_ = 0;
};

}  // namespace callgate::store
