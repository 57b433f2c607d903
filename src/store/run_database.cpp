#include "store/run_database.h"

#include <unistd.h>

#include <array>

#include "store/postgres.h"
#include "store/postgres_run.h"
#include "store/sqlite_run.h"

namespace callgate::store {

std::unique_ptr<RunDatabase> make_run_database(std::string_view url, const DatabaseOptions& options,
                                               std::chrono::milliseconds stale) {
  if (is_postgres_url(url)) {
    return std::make_unique<PostgresRunDatabase>(std::string(url), options, stale);
  }
  constexpr std::string_view kSqlite = "sqlite:";
  return std::make_unique<SqliteRunDatabase>(std::string(url.substr(kSqlite.size())), options);
}

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.data();
}

}  // namespace callgate::store
