#include "store/sqlite.h"

#include <sqlite3.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/check.h"

namespace callgate::store {
namespace {

FaultKind kind_of(int code) {
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return FaultKind::busy;
    case SQLITE_FULL:
      return FaultKind::full;
    case SQLITE_READONLY:
      return FaultKind::read_only;
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
      return FaultKind::cannot_open;
    case SQLITE_CORRUPT:
      return FaultKind::corrupt;
    case SQLITE_NOTADB:
      return FaultKind::not_ours;
    case SQLITE_CONSTRAINT:
    case SQLITE_TOOBIG:
    case SQLITE_MISMATCH:
      return FaultKind::bad_row;
    default:
      return FaultKind::other;
  }
}

// A file that may not grow (RLIMIT_FSIZE) or an exhausted quota is a full disk by another name. SQLite keeps the reason of a
// failed write in errno only.
bool is_full(int code, int reason) {
  return (code & 0xff) == SQLITE_IOERR && (reason == EFBIG || reason == EDQUOT || reason == ENOSPC);
}

tl::unexpected<Fault> fault_of(sqlite3* connection, int code) {
  const int reason = errno;
  if (is_full(code, reason)) {
    return fault(FaultKind::full,
                 std::string("database or disk is full: ") + std::strerror(reason));
  }
  return fault(kind_of(code), connection ? sqlite3_errmsg(connection) : sqlite3_errstr(code));
}

// SQLite counts its memory under one lock for the whole process unless told not to, before its
// first use.
void stop_counting_memory() {
  static const int code = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  static_cast<void>(code);
}

}  // namespace

LibraryVersion sqlite_version() { return {"sqlite", sqlite3_libversion()}; }

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

void Statement::bind(int parameter, std::string_view value) {
  // A null pointer would bind NULL.
  const char* bytes = value.data() ? value.data() : "";
  const int code = sqlite3_bind_text(statement_.get(), parameter, bytes,
                                     static_cast<int>(value.size()), SQLITE_STATIC);
  CALLGATE_CHECK(code == SQLITE_OK);
}

void Statement::bind(int parameter, std::int64_t value) {
  CALLGATE_CHECK(sqlite3_bind_int64(statement_.get(), parameter, value) == SQLITE_OK);
}

void Statement::bind_bytes(int parameter, std::string_view value) {
  const char* bytes = value.data() ? value.data() : "";
  const int code =
      sqlite3_bind_blob64(statement_.get(), parameter, bytes, value.size(), SQLITE_STATIC);
  CALLGATE_CHECK(code == SQLITE_OK);
}

void Statement::bind_null(int parameter) {
  CALLGATE_CHECK(sqlite3_bind_null(statement_.get(), parameter) == SQLITE_OK);
}

Attempt<bool> Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return fault_of(sqlite3_db_handle(statement_.get()), code);
}

Attempt<void> Statement::run() {
  const Attempt<bool> stepped = step();
  reset();
  if (!stepped) return tl::unexpected(stepped.error());
  return {};
}

void Statement::reset() { sqlite3_reset(statement_.get()); }

int Statement::columns() const { return sqlite3_column_count(statement_.get()); }

bool Statement::is_integer(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_INTEGER;
}

bool Statement::is_null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

std::string Statement::text(int column) const {
  const void* bytes = sqlite3_column_blob(statement_.get(), column);
  if (!bytes) return {};
  return std::string(static_cast<const char*>(bytes),
                     static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column)));
}

void Connection::Close::operator()(sqlite3* connection) const { sqlite3_close_v2(connection); }

Attempt<Connection> Connection::open(const std::string& path,
                                     std::chrono::milliseconds busy_timeout) {
  stop_counting_memory();
  // SQLite may be built to read `file:` as a URI; a path is a path.
  const std::string name = path.starts_with("file:") ? "./" + path : path;
  sqlite3* raw = nullptr;
  const int code =
      sqlite3_open_v2(name.c_str(), &raw,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
  Connection connection;
  connection.connection_.reset(raw);
  if (code != SQLITE_OK) return fault_of(raw, code);
  sqlite3_extended_result_codes(raw, 1);
  sqlite3_busy_timeout(raw, static_cast<int>(busy_timeout.count()));
  return connection;
}

Attempt<void> Connection::run(const std::string& sql) {
  const int code = sqlite3_exec(connection_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return fault_of(connection_.get(), code);
  return {};
}

Attempt<std::int64_t> Connection::integer(const std::string& sql) {
  Attempt<Statement> statement = prepare(sql);
  if (!statement) return tl::unexpected(statement.error());
  const Attempt<bool> stepped = statement->step();
  if (!stepped) return tl::unexpected(stepped.error());
  return *stepped ? statement->integer(0) : 0;
}

Attempt<Statement> Connection::prepare(std::string_view sql) {
  sqlite3_stmt* raw = nullptr;
  const int code = sqlite3_prepare_v3(connection_.get(), sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &raw, nullptr);
  if (code != SQLITE_OK) return fault_of(connection_.get(), code);
  Statement statement;
  statement.statement_.reset(raw);
  return statement;
}

Connection::FileSize Connection::file_size() const {
  constexpr int kHeader = 100;
  sqlite3_file* file = nullptr;
  FileSize size;
  if (sqlite3_file_control(connection_.get(), "main", SQLITE_FCNTL_FILE_POINTER, &file) !=
          SQLITE_OK ||
      file == nullptr || file->pMethods == nullptr) {
    return size;
  }
  sqlite3_int64 actual = 0;
  if (file->pMethods->xFileSize(file, &actual) != SQLITE_OK) return size;
  size.actual = actual;
  std::array<unsigned char, kHeader> head{};
  if (actual < kHeader || file->pMethods->xRead(file, head.data(), kHeader, 0) != SQLITE_OK) {
    return size;
  }
  const auto number = [&head](std::size_t at, std::size_t bytes) {
    std::int64_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i) value = value << 8 | head[at + i];
    return value;
  };
  // The count is valid when the version that it is for is the version of the change counter.
  if (number(24, 4) != number(92, 4)) return size;
  const std::int64_t page = number(16, 2) == 1 ? 65'536 : number(16, 2);
  size.stated = page * number(28, 4);
  return size;
}

std::int64_t Connection::changes() const { return sqlite3_changes64(connection_.get()); }

}  // namespace callgate::store
