#include "store/log/stored_request_log.h"

#include <sched.h>

#include <algorithm>

#include "store/log/entry_text.h"
#include "store/migration.h"
#include "store/postgres.h"
#include "store/request_query.h"
#include "store/usage_hours.h"

namespace callgate::store {
namespace {

// Nobody but the writer sees a database in memory.
constexpr std::string_view kMemory = "sqlite::memory:";
// How often the file of a store is looked for while nothing is written.
constexpr std::chrono::milliseconds kLookEvery{200};

// The thread that calls it never takes the core from an event loop when it wakes up.
void yield_to_others() {
  const sched_param lowest{};
  ::sched_setscheduler(0, SCHED_BATCH, &lowest);
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
    case FaultKind::gone:
    case FaultKind::truncated:
    case FaultKind::lost:
    case FaultKind::conflict:
    case FaultKind::timed_out:
    case FaultKind::other:
      return false;
  }
  return false;
}

bool is_file(std::string_view url) { return url != kMemory && !is_postgres_url(url); }

Engine engine_of(std::string_view url) {
  return is_postgres_url(url) ? Engine::postgresql : Engine::sqlite;
}

}  // namespace

Result<std::unique_ptr<StoredRequestLog>> StoredRequestLog::open(std::string url,
                                                                 RequestLogOptions options) {
  std::unique_ptr<StoredRequestLog> log(new StoredRequestLog(std::move(url), std::move(options)));
  const Attempt<void> opened = log->ensure_open();
  if (!opened) {
    if (is_final(opened.error().kind)) {
      return fail(ErrorCode::unavailable, "store: " + log->name_ + ": " + opened.error().message);
    }
    log->note_fault(opened.error());
  }
  if (const Attempt<void> left = log->spool_.open_existing(); !left) log->note_fault(left.error());
  log->thread_ = std::thread([self = log.get()] { self->write_until_stopped(); });
  const Retention retention{log->options_.keep, log->options_.keep_bytes};
  if (log->url_ != kMemory) {
    log->sweeper_ = std::make_unique<Sweeper>(log->url_, log->options_, retention,
                                              log->options_.sweep_every, log->options_.on_problem);
  }
  return log;
}

StoredRequestLog::StoredRequestLog(std::string url, RequestLogOptions options)
    : url_(std::move(url)),
      name_(shown_url(url_)),
      options_(std::move(options)),
      queue_({.entries = options_.queue_limit,
              .bytes = options_.queue_bytes,
              .batch = options_.batch_rows,
              .linger = options_.linger}),
      writer_(engine_of(url_)),
      spool_(options_.journal, options_.journal_bytes),
      database_(make_run_database(url_, options_, options_.stale_after)),
      readers_(url_, options_) {}

StoredRequestLog::~StoredRequestLog() {
  sweeper_.reset();
  deadline_ = std::chrono::steady_clock::now() + options_.close_timeout;
  stopping_ = true;
  queue_.stop();
  if (thread_.joinable()) thread_.join();
}

void StoredRequestLog::begin(RequestRecord record) {
  limit_texts(record);
  queue_.push(std::move(record));
}

void StoredRequestLog::complete(RequestOutcome outcome) {
  limit_texts(outcome);
  queue_.push(std::move(outcome));
}

Health StoredRequestLog::health() const {
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
  health.shed = queue_.shed();
  health.spooled = spooled_.load(std::memory_order_relaxed);
  health.journal_bytes = spool_.bytes();
  return health;
}

void StoredRequestLog::write_until_stopped() {
  yield_to_others();
  if (options_.journal.empty()) open_until_stopped();
  std::vector<Entry> entries;
  while (queue_.take(entries, patience())) {
    for (Entry& entry : entries) clean_texts(entry);
    if (!entries.empty()) write_batch(entries);
    entries.clear();
    report_losses(false);
    if (spool_.pending()) {
      replay_some();
    } else {
      look();
      tend();
    }
  }
  // What is left is replayed by the next start.
  next_replay_ = {};
  while (spool_.pending() && !give_up() && replay_some()) {
  }
  report_losses(true);
  close();
}

// A log that could not be opened at first must heal without traffic: none comes to a server
// that is not ready.
void StoredRequestLog::open_until_stopped() {
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

std::chrono::milliseconds StoredRequestLog::patience() const {
  using std::chrono::milliseconds;
  if (!spool_.pending()) {
    if (down_) return options_.first_retry;
    return is_file(url_) ? std::min(kLookEvery, options_.tend_every) : options_.tend_every;
  }
  const auto left = next_replay_ - std::chrono::steady_clock::now();
  return std::max(milliseconds(0), std::chrono::ceil<milliseconds>(left));
}

void StoredRequestLog::write_batch(const std::vector<Entry>& entries) {
  std::vector<Write> writes = fold_.fold(entries, database_->run());
  std::span<Write> rest(writes);
  std::chrono::milliseconds pause = options_.first_retry;
  while (!rest.empty()) {
    const std::span<Write> some = rest.first(std::min(rest.size(), options_.batch_rows));
    if (!spool_.pending() && write_some(some)) {
      rest = rest.subspan(some.size());
      pause = options_.first_retry;
      continue;
    }
    rest = rest.subspan(spool_some(rest));
    if (rest.empty()) return;
    if (give_up()) {
      std::size_t lost = 0;
      for (const Write& write : rest) lost += entry_count(write);
      lost_.fetch_add(lost, std::memory_order_relaxed);
      return queue_.settle(lost);
    }
    wait_to_retry(pause);
    if (spool_.pending()) replay_some();
  }
}

bool StoredRequestLog::write_some(std::span<Write> writes) {
  {
    const std::lock_guard lock(database_mutex_);
    Attempt<void> written = ensure_open();
    // What could not be found again must not be acknowledged.
    if (written) written = database_->verify();
    for (Write& write : writes) {
      if (!written) break;
      if (write.record) {
        write.key.run = database_->run();
      } else if (write.key.run == 0 && write.key.number != 0) {
        // It was begun before the store was ever open.
        const Attempt<RowKey> key = find_unfinished(database_->database(), *write.outcome);
        if (key) write.key = *key;
        if (!key) written = tl::unexpected(key.error());
      }
    }
    if (written) written = writer_.write(database_->database(), writes);
    if (!written) {
      database_->after_fault(written.error());
      note_fault(written.error());
      return false;
    }
  }
  note_success();
  acknowledge(writes);
  std::size_t settled = 0;
  for (const Write& write : writes) settled += entry_count(write);
  queue_.settle(settled);
  return true;
}

void StoredRequestLog::acknowledge(std::span<const Write> writes) {
  std::size_t recorded = 0;
  std::size_t refused = 0;
  for (const Write& write : writes) {
    (write.refused ? refused : recorded) += entry_count(write);
    if (write.refused || !options_.on_recorded) continue;
    const bool ended = write.outcome != nullptr;
    options_.on_recorded(ended ? write.outcome->id : write.record->id,
                         ended ? write.outcome->state : RequestState::running);
  }
  recorded_.fetch_add(recorded, std::memory_order_relaxed);
  lost_.fetch_add(refused, std::memory_order_relaxed);
}

std::size_t StoredRequestLog::spool_some(std::span<const Write> writes) {
  const Attempt<std::size_t> count = spool_.append(writes);
  if (!count) {
    note_fault(count.error());
    return 0;
  }
  std::size_t spooled = 0;
  for (const Write& write : writes.first(*count)) spooled += entry_count(write);
  spooled_.fetch_add(spooled, std::memory_order_relaxed);
  queue_.settle(spooled);
  return *count;
}

bool StoredRequestLog::replay_some() {
  const auto now = std::chrono::steady_clock::now();
  if (now < next_replay_) return false;
  Attempt<Spool::Replayed> replayed;
  {
    const std::lock_guard lock(database_mutex_);
    Attempt<void> opened = ensure_open();
    if (opened) opened = database_->verify();
    if (opened) {
      replayed = spool_.replay(*database_, writer_, fold_);
    } else {
      replayed = tl::unexpected(opened.error());
    }
    if (!replayed) database_->after_fault(replayed.error());
  }
  if (!replayed) {
    note_fault(replayed.error());
    replay_pause_ = std::clamp(replay_pause_ * 2, options_.first_retry, options_.last_retry);
    next_replay_ = now + replay_pause_;
    return false;
  }
  replay_pause_ = {};
  note_success();
  acknowledge(replayed->writes);
  if (replayed->damaged) {
    note_fault({FaultKind::corrupt, "the journal was damaged; what came after that is lost"});
  }
  return true;
}

// Once the queue is stopped its pauses end at once.
void StoredRequestLog::wait_to_retry(std::chrono::milliseconds& pause) {
  report_losses(false);
  if (stopping_) {
    std::this_thread::sleep_for(std::min(options_.first_retry, options_.close_timeout));
  } else {
    queue_.pause(pause);
    pause = std::min(pause * 2, options_.last_retry);
  }
}

bool StoredRequestLog::give_up() const {
  return stopping_ && std::chrono::steady_clock::now() >= deadline_.load();
}

Attempt<void> StoredRequestLog::ensure_open() {
  if (database_->is_open()) return {};
  is_open_ = false;
  const Attempt<void> opened = database_->open();
  if (std::string notice = database_->notice(); notice != notice_) {
    note_fault({FaultKind::corrupt, notice});
    const std::lock_guard lock(health_mutex_);
    notice_ = std::move(notice);
  }
  if (!opened) return opened;
  readers_.renew();
  is_open_ = true;
  return {};
}

// An operator may have removed the file; without requests nothing else would notice.
void StoredRequestLog::look() {
  if (!is_file(url_)) return;
  const std::lock_guard lock(database_mutex_);
  if (!database_->is_open()) return;
  const Attempt<void> verified = database_->verify();
  if (verified) return;
  database_->after_fault(verified.error());
  note_fault(verified.error());
  const Attempt<void> opened = ensure_open();
  if (opened) return note_success();
  note_fault(opened.error());
  next_tend_ = std::chrono::steady_clock::now() + options_.first_retry;
}

void StoredRequestLog::tend() {
  const auto now = std::chrono::steady_clock::now();
  if (now < next_tend_) return;
  next_tend_ = now + options_.tend_every;
  const std::lock_guard lock(database_mutex_);
  Attempt<void> tended = ensure_open();
  if (tended) {
    tended = database_->tend();
    if (!tended) database_->after_fault(tended.error());
  }
  if (tended) {
    replay_pause_ = {};
    return note_success();
  }
  note_fault(tended.error());
  replay_pause_ = std::clamp(replay_pause_ * 2, options_.first_retry, options_.last_retry);
  next_tend_ = now + replay_pause_;
}

void StoredRequestLog::report_losses(bool now) {
  const std::uint64_t shed = queue_.shed();
  const std::uint64_t dropped = queue_.dropped();
  if (!options_.on_problem || (shed == reported_shed_ && dropped == reported_dropped_)) return;
  const auto time = std::chrono::steady_clock::now();
  if (time < next_report_ && !now) return;
  next_report_ = time + options_.report_every;
  options_.on_problem(name_ + ": records come faster than they are written: " +
                      std::to_string(shed - reported_shed_) + " lost their bodies, " +
                      std::to_string(dropped - reported_dropped_) + " were dropped");
  reported_shed_ = shed;
  reported_dropped_ = dropped;
}

void StoredRequestLog::note_fault(const Fault& fault) {
  errors_.fetch_add(1, std::memory_order_relaxed);
  down_ = true;
  const std::string problem = name_ + ": " + fault.message;
  if (options_.on_problem) options_.on_problem(problem);
  const std::lock_guard lock(health_mutex_);
  problem_ = problem;
}

void StoredRequestLog::note_success() {
  down_ = false;
  const std::lock_guard lock(health_mutex_);
  problem_.clear();
}

void StoredRequestLog::close() {
  const std::lock_guard lock(database_mutex_);
  database_->end();
}

template <class Query>
auto StoredRequestLog::ask(Query query)
    -> Result<typename std::invoke_result_t<Query, Database&>::value_type> {
  if (!is_open_) return fail(ErrorCode::unavailable, "store: " + name_ + " is not open");
  auto answer = url_ == kMemory ? ask_writer(query) : readers_.ask(query);
  if (answer) return std::move(*answer);
  const Fault& fault = answer.error();
  if (fault.kind == FaultKind::bad_row) return fail(ErrorCode::invalid_request, fault.message);
  return fail(ErrorCode::unavailable, "store: " + name_ + ": " + fault.message);
}

template <class Query>
std::invoke_result_t<Query, Database&> StoredRequestLog::ask_writer(Query& query) {
  const std::lock_guard lock(database_mutex_);
  return query(database_->database());
}

Result<std::vector<RequestRow>> StoredRequestLog::recent(std::size_t limit) {
  return ask([&](Database& database) { return store::recent(database, limit); });
}

Result<std::optional<RequestRow>> StoredRequestLog::get(RequestName name) {
  return ask([&](Database& database) { return store::get(database, name); });
}

Result<RequestPage> StoredRequestLog::search(const RequestFilter& filter) {
  return ask([&](Database& database) { return store::search(database, filter); });
}

Result<bool> StoredRequestLog::resolve(RequestName name, std::optional<std::int64_t> at,
                                       std::string_view note) {
  std::string text(note);
  limit_text(text);
  return ask([&](Database& database) { return store::resolve(database, name, at, text); });
}

Result<std::vector<CallRow>> StoredRequestLog::calls(RequestName name) {
  return ask([&](Database& database) { return store::calls(database, name); });
}

Result<RequestContent> StoredRequestLog::content(RequestName name) {
  return ask([&](Database& database) { return store::content(database, name); });
}

Result<std::vector<UsageRow>> StoredRequestLog::usage(const UsageQuestion& question) {
  return ask([&](Database& database) { return store::usage(database, question); });
}

Result<StoreStats> StoredRequestLog::stats() {
  return ask([&](Database& database) { return store::stats(database); });
}

}  // namespace callgate::store
