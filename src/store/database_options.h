// How a database is opened.
#pragma once

#include <chrono>
#include <cstdint>

namespace callgate::store {

enum class Synchronous : std::uint8_t { normal, full };

struct DatabaseOptions {
  Synchronous synchronous = Synchronous::normal;
  // SQLite: the largest file in pages of 4 KiB, 0 for no limit.
  std::int64_t max_pages = 0;
  // SQLite: how long to wait for another process.
  std::chrono::milliseconds busy_timeout{250};
  // SQLite: a file that is missing or empty is a fault, not a new database.
  bool must_exist = false;
  // SQLite: whether a file that is deleted, replaced or truncated while it is in use is begun anew.
  bool recreate = true;
  // PostgreSQL.
  std::chrono::milliseconds connect_timeout{5'000};
  std::chrono::milliseconds statement_timeout{10'000};
};

}  // namespace callgate::store
