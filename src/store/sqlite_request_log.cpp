#include "store/sqlite_request_log.h"

#include <algorithm>

#include "base/utf8.h"

namespace callgate::store {
namespace {

// Cuts between characters, so that a text stays UTF-8.
void limit_text(std::string& text) {
  if (text.size() <= kLongestText) return;
  text.resize(kLongestText);
  text.resize(text.size() - utf8::incomplete_tail(text));
}

std::size_t entry_count(const Write& write) {
  return (write.record ? 1u : 0u) + (write.outcome ? 1u : 0u);
}

// Such a fault is the operator's to mend, before the server starts.
bool is_final(FaultKind kind) {
  switch (kind) {
    case FaultKind::cannot_open:
    case FaultKind::not_ours:
    case FaultKind::too_new:
      return true;
    case FaultKind::busy:
    case FaultKind::full:
    case FaultKind::read_only:
    case FaultKind::corrupt:
    case FaultKind::bad_row:
    case FaultKind::other:
      return false;
  }
  return false;
}

// Whether the same connection may work again later.
bool keeps_connection(FaultKind kind) {
  return kind == FaultKind::busy || kind == FaultKind::full || kind == FaultKind::bad_row;
}

tl::unexpected<Error> not_there() {
  return fail(ErrorCode::unavailable, "store: this engine has no such query");
}

}  // namespace

Result<std::unique_ptr<SqliteRequestLog>> SqliteRequestLog::open(std::string path,
                                                                 RequestLogOptions options) {
  std::unique_ptr<SqliteRequestLog> log(new SqliteRequestLog(std::move(path), std::move(options)));
  const Attempt<void> opened = log->ensure_open();
  if (!opened) {
    if (is_final(opened.error().kind)) {
      return fail(ErrorCode::unavailable, "store: " + log->path_ + ": " + opened.error().message);
    }
    log->note_fault(opened.error());
  }
  log->writer_ = std::thread([self = log.get()] { self->write_until_stopped(); });
  return log;
}

SqliteRequestLog::SqliteRequestLog(std::string path, RequestLogOptions options)
    : path_(std::move(path)),
      options_(std::move(options)),
      queue_(options_.queue_limit, options_.batch_rows, options_.linger) {}

SqliteRequestLog::~SqliteRequestLog() {
  deadline_ = std::chrono::steady_clock::now() + options_.close_timeout;
  stopping_ = true;
  queue_.stop();
  if (writer_.joinable()) writer_.join();
}

void SqliteRequestLog::begin(RequestRecord record) {
  for (std::string* text : {&record.id, &record.key_name, &record.protocol, &record.model,
                            &record.upstream, &record.dialect, &record.client_address}) {
    limit_text(*text);
  }
  queue_.push(std::move(record));
}

void SqliteRequestLog::complete(RequestOutcome outcome) {
  for (std::string* text : {&outcome.id, &outcome.error_code, &outcome.error_message,
                            &outcome.upstream, &outcome.dialect}) {
    limit_text(*text);
  }
  queue_.push(std::move(outcome));
}

Health SqliteRequestLog::health() const {
  Health health;
  {
    const std::lock_guard lock(health_mutex_);
    health.problem = problem_;
    health.notice = notice_;
  }
  health.healthy = health.problem.empty();
  health.recorded = recorded();
  health.dropped = queue_.dropped() + lost_.load(std::memory_order_relaxed);
  health.errors = errors_.load(std::memory_order_relaxed);
  health.queued = queue_.depth();
  health.lag = queue_.lag();
  return health;
}

void SqliteRequestLog::write_until_stopped() {
  open_until_stopped();
  std::vector<Entry> entries;
  while (queue_.take(entries)) {
    write_batch(entries);
    entries.clear();
  }
  close();
}

// A log that could not be opened at first must heal without traffic: nobody sends any to a server
// that is not ready.
void SqliteRequestLog::open_until_stopped() {
  std::chrono::milliseconds pause = options_.first_retry;
  while (!stopping_) {
    {
      const std::lock_guard lock(database_mutex_);
      const Attempt<void> opened = ensure_open();
      if (opened) return note_success();
      note_fault(opened.error());
    }
    wait_to_retry(pause);
  }
}

void SqliteRequestLog::write_batch(const std::vector<Entry>& entries) {
  std::vector<Write> writes = fold_.fold(entries);
  std::chrono::milliseconds pause = options_.first_retry;
  auto begin = writes.begin();
  while (begin != writes.end()) {
    const auto rows = std::min<std::ptrdiff_t>(writes.end() - begin,
                                               static_cast<std::ptrdiff_t>(options_.batch_rows));
    if (write_some(begin, begin + rows)) {
      begin += rows;
      pause = options_.first_retry;
    } else if (give_up()) {
      std::size_t rest = 0;
      for (; begin != writes.end(); ++begin) rest += entry_count(*begin);
      lost_.fetch_add(rest, std::memory_order_relaxed);
      queue_.settle(rest);
    } else {
      wait_to_retry(pause);
    }
  }
}

bool SqliteRequestLog::write_some(std::vector<Write>::iterator begin,
                                  std::vector<Write>::iterator end) {
  {
    const std::lock_guard lock(database_mutex_);
    Attempt<void> written = ensure_open();
    if (written) {
      written = database_->write({begin, end});
      if (!written) after_fault(written.error());
    }
    if (!written) {
      note_fault(written.error());
      return false;
    }
  }
  std::size_t recorded = 0;
  std::size_t refused = 0;
  for (auto write = begin; write != end; ++write) {
    (write->refused ? refused : recorded) += entry_count(*write);
    if (write->refused || !options_.on_recorded) continue;
    const bool ended = write->outcome != nullptr;
    options_.on_recorded(ended ? write->outcome->id : write->record->id,
                         ended ? write->outcome->state : RequestState::running);
  }
  note_success();
  recorded_.fetch_add(recorded, std::memory_order_relaxed);
  lost_.fetch_add(refused, std::memory_order_relaxed);
  queue_.settle(recorded + refused);
  return true;
}

// Once the queue is stopped its pauses end at once.
void SqliteRequestLog::wait_to_retry(std::chrono::milliseconds& pause) {
  if (stopping_) {
    std::this_thread::sleep_for(std::min(options_.first_retry, options_.close_timeout));
  } else {
    queue_.pause(pause);
    pause = std::min(pause * 2, options_.last_retry);
  }
}

bool SqliteRequestLog::give_up() const {
  return stopping_ && std::chrono::steady_clock::now() >= deadline_.load();
}

Attempt<void> SqliteRequestLog::ensure_open() {
  if (database_) return {};
  if (!run_lock_) {
    Attempt<RunLock> lock = RunLock::open(path_);
    if (!lock) return tl::unexpected(lock.error());
    run_lock_ = std::move(*lock);
  }
  if (damage_) {
    const Attempt<void> replaced = replace_damaged();
    if (!replaced) return replaced;
  }
  Attempt<Database> opened = Database::open(path_, options_, *run_lock_, run_);
  if (!opened && opened.error().kind == FaultKind::corrupt) {
    damage_ = opened.error();
    const Attempt<void> replaced = replace_damaged();
    if (!replaced) return replaced;
    opened = Database::open(path_, options_, *run_lock_, 0);
  }
  if (!opened) return tl::unexpected(opened.error());
  run_ = opened->run();
  database_ = std::move(*opened);
  return {};
}

// Some faults pass while the connection stays; a database in memory has nothing to open again.
void SqliteRequestLog::after_fault(const Fault& fault) {
  if (keeps_connection(fault.kind) || path_ == ":memory:") return;
  if (fault.kind == FaultKind::corrupt) damage_ = fault;
  database_.reset();
}

Attempt<void> SqliteRequestLog::replace_damaged() {
  const std::string why = damage_->message;
  if (!looks_like_ours(path_)) {
    return fault(FaultKind::not_ours, why + "; it does not look like callgate's: move it away");
  }
  if (run_lock_->has_company()) {
    return fault(FaultKind::corrupt, why + "; another process uses the file: stop that first");
  }
  note_fault(*damage_);
  const Attempt<std::string> moved = move_aside(path_);
  if (!moved) return tl::unexpected(moved.error());
  damage_.reset();
  const std::lock_guard lock(health_mutex_);
  notice_ =
      path_ + " was damaged (" + why + "), is kept as " + *moved + ", and a new one was begun";
  return {};
}

void SqliteRequestLog::note_fault(const Fault& fault) {
  errors_.fetch_add(1, std::memory_order_relaxed);
  const std::string problem = path_ + ": " + fault.message;
  if (options_.on_problem) options_.on_problem(problem);
  const std::lock_guard lock(health_mutex_);
  problem_ = problem;
}

void SqliteRequestLog::note_success() {
  const std::lock_guard lock(health_mutex_);
  problem_.clear();
}

// What fails here is found and mended by the next start.
void SqliteRequestLog::close() {
  const std::lock_guard lock(database_mutex_);
  if (database_) static_cast<void>(database_->end_run());
  database_.reset();
}

template <class Query>
auto SqliteRequestLog::ask(Query query)
    -> Result<typename std::invoke_result_t<Query, Database&>::value_type> {
  const std::lock_guard lock(database_mutex_);
  if (!database_) return fail(ErrorCode::unavailable, "store: " + path_ + " is not open");
  auto answer = query(*database_);
  if (!answer)
    return fail(ErrorCode::unavailable, "store: " + path_ + ": " + answer.error().message);
  return std::move(*answer);
}

Result<std::vector<RequestRow>> SqliteRequestLog::recent(std::size_t limit) {
  return ask([&](Database& database) { return database.recent(limit); });
}

Result<std::optional<RequestRow>> SqliteRequestLog::get(std::string_view id) {
  return ask([&](Database& database) { return database.get(id); });
}

Result<RequestPage> SqliteRequestLog::search(const RequestFilter&) { return not_there(); }
Result<std::vector<CallRow>> SqliteRequestLog::calls(std::string_view) { return not_there(); }
Result<RequestContent> SqliteRequestLog::content(std::string_view) { return not_there(); }
Result<std::vector<UsageRow>> SqliteRequestLog::usage(UsageGroup, std::int64_t, std::int64_t) {
  return not_there();
}
Result<StoreStats> SqliteRequestLog::stats() { return not_there(); }

}  // namespace callgate::store
