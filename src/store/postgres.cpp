#include "store/postgres.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "store/postgresql/libpq.h"

namespace callgate::store {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// The server ends a statement first; this much later we stop waiting for it.
constexpr milliseconds kGrace{2'000};
constexpr std::size_t kMostStatements = 200;
// From PostgreSQL's pg_type.
constexpr Oid kBytea = 17;
constexpr Oid kInt8 = 20;
constexpr Oid kInt2 = 21;
constexpr Oid kInt4 = 23;

FaultKind kind_of(std::string_view state) {
  struct Row {
    std::string_view prefix;
    FaultKind kind;
  };
  constexpr Row kRows[] = {
      {"08", FaultKind::lost},        {"57P", FaultKind::lost},   {"57014", FaultKind::timed_out},
      {"40", FaultKind::conflict},    {"55P03", FaultKind::busy}, {"55006", FaultKind::busy},
      {"53100", FaultKind::full},     {"53", FaultKind::busy},    {"25006", FaultKind::read_only},
      {"22", FaultKind::bad_row},     {"23", FaultKind::bad_row}, {"28", FaultKind::cannot_open},
      {"3D", FaultKind::cannot_open},
  };
  for (const Row& row : kRows) {
    if (state.starts_with(row.prefix)) return row.kind;
  }
  return FaultKind::other;
}

// Without the line feed, and only the first line: the rest is the statement.
std::string first_line(const char* message) {
  std::string text = message ? message : "";
  text.resize(std::min(text.size(), text.find('\n')));
  return text;
}

// False when `deadline` comes first.
bool wait_for(int socket, short events, steady_clock::time_point deadline) {
  for (;;) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - steady_clock::now());
    if (left.count() <= 0) return false;
    pollfd ready{socket, events, 0};
    const int count = poll(&ready, 1, static_cast<int>(left.count()));
    if (count > 0) return true;
    if (count < 0 && errno != EINTR) return false;
  }
}

int digit_of(char hex) {
  if (hex >= '0' && hex <= '9') return hex - '0';
  return (hex | 0x20) - 'a' + 10;
}

// \x48656c6c6f
std::string decode_bytes(std::string_view hex) {
  std::string bytes;
  bytes.reserve(hex.size() / 2);
  for (std::size_t i = 2; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(digit_of(hex[i]) << 4 | digit_of(hex[i + 1]));
  }
  return bytes;
}

Cell to_cell(const PGresult* result, int row, int column) {
  if (PQgetisnull(result, row, column)) return {};
  const std::string_view text(PQgetvalue(result, row, column),
                              static_cast<std::size_t>(PQgetlength(result, row, column)));
  switch (PQftype(result, column)) {
    case kInt2:
    case kInt4:
    case kInt8: {
      std::int64_t number = 0;
      std::from_chars(text.data(), text.data() + text.size(), number);
      return number;
    }
    case kBytea:
      return decode_bytes(text);
    default:
      return std::string(text);
  }
}

std::int64_t changes_of(PGresult* result) {
  const std::string_view count = PQcmdTuples(result);
  std::int64_t changes = 0;
  std::from_chars(count.data(), count.data() + count.size(), changes);
  return changes;
}

// Values as libpq wants them: integers and texts in text form, bytes as they are.
class Parameters {
 public:
  explicit Parameters(std::span<const Value> values) {
    texts_.reserve(values.size());  // no pointer into it may move
    for (const Value& value : values) add(value);
  }
  int size() const { return static_cast<int>(pointers_.size()); }
  const char* const* values() const { return pointers_.data(); }
  const int* lengths() const { return lengths_.data(); }
  const int* formats() const { return formats_.data(); }

 private:
  void add(const Value& value) {
    if (const auto* number = std::get_if<std::int64_t>(&value)) {
      add(texts_.emplace_back(std::to_string(*number)), 0);
    } else if (const auto* text = std::get_if<std::string_view>(&value)) {
      add(texts_.emplace_back(*text), 0);  // libpq wants it to end in a zero
    } else if (const auto* blob = std::get_if<Blob>(&value)) {
      add(blob->bytes.data() ? blob->bytes : std::string_view(""), 1);
    } else {
      pointers_.push_back(nullptr);
      lengths_.push_back(0);
      formats_.push_back(0);
    }
  }
  void add(std::string_view bytes, int format) {
    pointers_.push_back(bytes.data());
    lengths_.push_back(static_cast<int>(bytes.size()));
    formats_.push_back(format);
  }
  std::vector<std::string> texts_;
  std::vector<const char*> pointers_;
  std::vector<int> lengths_;
  std::vector<int> formats_;
};

}  // namespace

LibraryVersion libpq_version() {
  if (!load_libpq()) return {"libpq", "not installed"};
  const int version = PQlibVersion();  // 150020 is 15.20
  return {"libpq", std::to_string(version / 10000) + "." + std::to_string(version % 10000)};
}

bool is_postgres_url(std::string_view url) {
  return url.starts_with("postgresql://") || url.starts_with("postgres://");
}

// postgresql://user:password@host/name?... -> postgresql://user@host/name
std::string shown_postgres_url(std::string_view url) {
  std::string shown(url.substr(0, url.find('?')));
  const std::size_t host = shown.rfind('@');
  const std::size_t user = shown.find("//");
  if (host == std::string::npos || user == std::string::npos) return shown;
  const std::size_t password = shown.find(':', user);
  if (password < host) shown.erase(password, host - password);
  return shown;
}

void PostgresDatabase::Finish::operator()(pg_conn* connection) const { PQfinish(connection); }
void PostgresDatabase::Clear::operator()(pg_result* result) const { PQclear(result); }

Attempt<std::unique_ptr<PostgresDatabase>> PostgresDatabase::open(const std::string& url,
                                                                  const DatabaseOptions& options) {
  if (const Attempt<void> loaded = load_libpq(); !loaded) return tl::unexpected(loaded.error());
  const char* const names[] = {"dbname", "fallback_application_name", "client_encoding", nullptr};
  const char* const values[] = {url.c_str(), "callgate", "UTF8", nullptr};
  PGconn* raw = PQconnectStartParams(names, values, 1);
  if (!raw) return fault(FaultKind::other, "out of memory");
  std::unique_ptr<PostgresDatabase> database(new PostgresDatabase(raw, options.statement_timeout));
  PQsetNoticeProcessor(
      raw, [](void*, const char*) {}, nullptr);
  const Attempt<void> connected = connect(raw, steady_clock::now() + options.connect_timeout);
  if (!connected) return tl::unexpected(connected.error());
  if (PQsetnonblocking(raw, 1) != 0) return database->broken("cannot set non-blocking");
  const Attempt<void> ready = database->set_statement_timeout(options.statement_timeout);
  if (!ready) return tl::unexpected(ready.error());
  return database;
}

// A wrong URL, name or password is the operator's to mend; a server that is away comes back.
Attempt<void> PostgresDatabase::connect(pg_conn* connection, Time deadline) {
  const auto failed = [&] {
    const std::string message = first_line(PQerrorMessage(connection));
    for (const std::string_view final :
         {"does not exist", "authentication failed", "no password supplied", "invalid ",
          "missing key", "no pg_hba.conf entry", "certificate verify failed", "unrecognized"}) {
      if (message.find(final) != std::string::npos) return fault(FaultKind::cannot_open, message);
    }
    return fault(FaultKind::lost, message);
  };
  PostgresPollingStatusType state = PGRES_POLLING_WRITING;
  if (PQstatus(connection) == CONNECTION_BAD) return failed();
  while (state != PGRES_POLLING_OK) {
    if (state == PGRES_POLLING_FAILED) return failed();
    const short events = state == PGRES_POLLING_READING ? POLLIN : POLLOUT;
    if (!wait_for(PQsocket(connection), events, deadline)) {
      return fault(FaultKind::lost, "no connection within the time limit");
    }
    state = PQconnectPoll(connection);
  }
  return {};
}

int PostgresDatabase::socket() const { return PQsocket(connection_.get()); }

Attempt<std::vector<std::string>> PostgresDatabase::notices() {
  if (PQconsumeInput(connection_.get()) == 0) return broken("the connection is gone");
  std::vector<std::string> all;
  while (PGnotify* const notice = PQnotifies(connection_.get())) {
    all.emplace_back(notice->extra);
    PQfreemem(notice);
  }
  return all;
}

PostgresDatabase::Time PostgresDatabase::deadline() const {
  return steady_clock::now() + timeout_ + kGrace;
}

Attempt<void> PostgresDatabase::set_statement_timeout(milliseconds timeout) {
  timeout_ = timeout;
  return run("SET statement_timeout = " + std::to_string(timeout.count()));
}

tl::unexpected<Fault> PostgresDatabase::broken(std::string message) {
  return fault(FaultKind::lost, std::move(message));
}

tl::unexpected<Fault> PostgresDatabase::fault_of(const pg_result* result) {
  const char* state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  if (state) {
    const char* primary = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    return fault(kind_of(state), primary ? primary : state);
  }
  const bool gone = PQstatus(connection_.get()) == CONNECTION_BAD;
  std::string message = first_line(PQresultErrorMessage(result));
  if (message.empty()) message = first_line(PQerrorMessage(connection_.get()));
  return fault(gone ? FaultKind::lost : FaultKind::other, message);
}

Attempt<void> PostgresDatabase::wait_for_result(Time deadline) {
  PGconn* connection = connection_.get();
  for (;;) {
    const int unsent = PQflush(connection);
    if (unsent < 0) return broken(first_line(PQerrorMessage(connection)));
    if (unsent == 0 && !PQisBusy(connection)) return {};
    const short events = unsent > 0 ? POLLIN | POLLOUT : POLLIN;
    if (!wait_for(PQsocket(connection), events, deadline)) {
      return fault(FaultKind::lost, "no answer within the time limit");
    }
    if (!PQconsumeInput(connection)) return broken(first_line(PQerrorMessage(connection)));
    if (!PQisBusy(connection) && unsent == 0) return {};
  }
}

Attempt<PostgresDatabase::Result> PostgresDatabase::next(Time deadline) {
  const Attempt<void> there = wait_for_result(deadline);
  if (!there) return tl::unexpected(there.error());
  return Result(PQgetResult(connection_.get()));
}

// A script gives one result for each statement; the first failed one ends it.
Attempt<PostgresDatabase::Result> PostgresDatabase::finish_command(Time deadline) {
  Result last;
  for (;;) {
    Attempt<Result> result = next(deadline);
    if (!result) return result;
    if (!*result) break;
    const bool failed = last && PQresultStatus(last.get()) == PGRES_FATAL_ERROR;
    if (!failed) last = std::move(*result);
  }
  if (!last) return broken("no result");
  if (PQresultStatus(last.get()) == PGRES_FATAL_ERROR) return fault_of(last.get());
  return last;
}

Attempt<void> PostgresDatabase::run(const std::string& script) {
  if (!PQsendQuery(connection_.get(), script.c_str())) {
    return broken(first_line(PQerrorMessage(connection_.get())));
  }
  const Attempt<Result> done = finish_command(deadline());
  if (!done) return tl::unexpected(done.error());
  return {};
}

PostgresDatabase::Prepared PostgresDatabase::name_of(std::string_view sql) {
  if (const auto found = names_.find(sql); found != names_.end()) return {found->second, false};
  return {"s" + std::to_string(++last_name_), true};
}

Attempt<void> PostgresDatabase::send_prepare(const std::string& name, std::string_view sql) {
  if (PQsendPrepare(connection_.get(), name.c_str(), std::string(sql).c_str(), 0, nullptr)) {
    return {};
  }
  return broken(first_line(PQerrorMessage(connection_.get())));
}

Attempt<PostgresDatabase::Result> PostgresDatabase::execute(std::string_view sql,
                                                            std::span<const Value> values) {
  if (names_.size() >= kMostStatements) {
    names_.clear();
    const Attempt<void> forgotten = run("DEALLOCATE ALL");
    if (!forgotten) return tl::unexpected(forgotten.error());
  }
  const Prepared prepared = name_of(sql);
  if (prepared.fresh) {
    const Attempt<void> sent = send_prepare(prepared.name, sql);
    if (!sent) return tl::unexpected(sent.error());
    const Attempt<Result> ready = finish_command(deadline());
    if (!ready) return tl::unexpected(ready.error());
    names_.emplace(sql, prepared.name);
  }
  const Parameters parameters(values);
  if (!PQsendQueryPrepared(connection_.get(), prepared.name.c_str(), parameters.size(),
                           parameters.values(), parameters.lengths(), parameters.formats(), 0)) {
    return broken(first_line(PQerrorMessage(connection_.get())));
  }
  return finish_command(deadline());
}

Attempt<Rows> PostgresDatabase::query(std::string_view sql, std::span<const Value> values) {
  const Attempt<Result> result = execute(sql, values);
  if (!result) return tl::unexpected(result.error());
  const int columns = PQnfields(result->get());
  Rows rows(static_cast<std::size_t>(columns));
  for (int row = 0; row < PQntuples(result->get()); ++row) {
    for (int column = 0; column < columns; ++column) rows.add(to_cell(result->get(), row, column));
  }
  return rows;
}

Attempt<std::int64_t> PostgresDatabase::change(std::string_view sql,
                                               std::span<const Value> values) {
  const Attempt<Result> result = execute(sql, values);
  if (!result) return tl::unexpected(result.error());
  return changes_of(result->get());
}

Attempt<std::vector<std::int64_t>> PostgresDatabase::batch(std::span<const Command> commands) {
  if (names_.size() >= kMostStatements) {
    names_.clear();
    const Attempt<void> forgotten = run("DEALLOCATE ALL");
    if (!forgotten) return tl::unexpected(forgotten.error());
  }
  if (!PQenterPipelineMode(connection_.get())) return broken("cannot begin a pipeline");
  std::vector<bool> counted;
  const Attempt<void> sent = send_batch(commands, counted);
  if (!sent) return tl::unexpected(sent.error());
  Attempt<std::vector<std::int64_t>> changes = read_batch(counted);
  const bool gone = !changes && changes.error().kind == FaultKind::lost;
  if (!gone && !PQexitPipelineMode(connection_.get())) return broken("cannot end a pipeline");
  if (!changes) {
    // What was prepared in a batch that failed may be there or not.
    names_.clear();
    if (!gone) static_cast<void>(run("ROLLBACK; DEALLOCATE ALL"));
  }
  return changes;
}

// `counted` says of each command that was sent whether it is the caller's.
Attempt<void> PostgresDatabase::send_batch(std::span<const Command> commands,
                                           std::vector<bool>& counted) {
  PGconn* connection = connection_.get();
  const auto send_plain = [&](const char* sql) {
    counted.push_back(false);
    return PQsendQueryParams(connection, sql, 0, nullptr, nullptr, nullptr, nullptr, 0) == 1;
  };
  bool sent = send_plain("BEGIN");
  for (const Command& command : commands) {
    const Prepared prepared = name_of(command.sql);
    if (sent && prepared.fresh) {
      sent = send_prepare(prepared.name, command.sql).has_value();
      counted.push_back(false);
      names_.emplace(command.sql, prepared.name);
    }
    const Parameters parameters(command.values);
    sent = sent && PQsendQueryPrepared(connection, prepared.name.c_str(), parameters.size(),
                                       parameters.values(), parameters.lengths(),
                                       parameters.formats(), 0) == 1;
    counted.push_back(true);
  }
  sent = sent && send_plain("COMMIT") && PQpipelineSync(connection) == 1;
  if (!sent) return broken(first_line(PQerrorMessage(connection)));
  return {};
}

Attempt<std::vector<std::int64_t>> PostgresDatabase::read_batch(const std::vector<bool>& counted) {
  const Time until = deadline();
  std::vector<std::int64_t> changes;
  std::optional<Fault> first_fault;
  for (const bool count : counted) {
    Attempt<Result> result = next(until);
    if (!result) return tl::unexpected(result.error());
    if (!*result) return broken("a result is missing");
    const ExecStatusType status = PQresultStatus(result->get());
    if (status == PGRES_FATAL_ERROR && !first_fault) {
      first_fault = fault_of(result->get()).value();
      if (PQstatus(connection_.get()) == CONNECTION_BAD) return tl::unexpected(*first_fault);
    }
    if (count) changes.push_back(changes_of(result->get()));
    // Each command ends with nothing.
    result = next(until);
    if (!result) return tl::unexpected(result.error());
  }
  const Attempt<Result> sync = next(until);
  if (!sync) return tl::unexpected(sync.error());
  if (!*sync || PQresultStatus(sync->get()) != PGRES_PIPELINE_SYNC) {
    return broken("the end of a batch is missing");
  }
  if (first_fault) return tl::unexpected(*first_fault);
  return changes;
}

}  // namespace callgate::store
