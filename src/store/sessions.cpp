#include "store/sessions.h"

#include <algorithm>

#include "store/migration.h"

namespace callgate::store {
namespace {

using std::chrono::steady_clock;

constexpr int kTries = 4;
constexpr std::chrono::milliseconds kBetweenTries{5};
constexpr std::size_t kSweepRows = 500;
constexpr std::size_t kSweepMemories = 20;  // each with all its messages
constexpr int kSweepSteps = 20;
constexpr std::chrono::hours kRoomsKept{24};  // what was said in rooms without an owner

bool is_shared(std::string_view url) { return !url.starts_with("sqlite:"); }

}  // namespace

Error to_error(const Fault& fault) {
  const ErrorCode code =
      fault.kind == FaultKind::bad_row ? ErrorCode::invalid_request : ErrorCode::unavailable;
  return {.code = code, .message = "store: " + fault.message};
}

// A thread, its queue and its connection.
struct Sessions::Lane {
  std::mutex mutex;
  std::condition_variable wake;
  std::deque<Job> jobs;
  bool stop = false;
  bool tick = false;

  // Of the thread alone.
  std::unique_ptr<Database> database;
  std::unique_ptr<Tables> tables;
  std::deque<Job> later;  // patient ones
  std::optional<Fault> trouble;
  bool lost_file = false;
  steady_clock::time_point retry_at{};
  std::chrono::milliseconds pause{0};
  steady_clock::time_point next_beat{};
  steady_clock::time_point next_sweep{};
  steady_clock::time_point next_tick{};

  std::thread thread;
};

Sessions::Sessions(std::string url, std::string node, SessionsOptions options)
    : url_(std::move(url)),
      node_(std::move(node)),
      options_(std::move(options)),
      shared_(is_shared(url_)),
      ticks_(shared_ || options_.tick_alone),
      keep_(options_.keep) {
  const std::size_t lanes = shared_ ? options_.connections + 1 : 1;
  for (std::size_t i = 0; i < lanes; ++i) lanes_.push_back(std::make_unique<Lane>());
  for (const auto& lane : lanes_) {
    const bool keeper = lane == lanes_.back();
    lane->thread = std::thread([this, each = lane.get(), keeper] { work(*each, keeper); });
  }
}

Sessions::~Sessions() {
  close_by_ = steady_clock::now() + options_.close_timeout;
  closing_ = true;
  // The keeper is the last: until then what the others do is held by a node that lives.
  for (const auto& lane : lanes_) {
    {
      const std::lock_guard lock(lane->mutex);
      lane->stop = true;
    }
    lane->wake.notify_one();
    lane->thread.join();
  }
}

Sessions::Health Sessions::health() const {
  Health health;
  {
    const std::lock_guard lock(health_mutex_);
    health.problem = problem_;
  }
  health.healthy = health.problem.empty();
  health.done = done_;
  health.failed = failed_;
  for (const auto& lane : lanes_) {
    const std::lock_guard lock(lane->mutex);
    health.queued += lane->jobs.size();
  }
  return health;
}

Sessions::Lane& Sessions::lane_of(std::string_view key) {
  const std::size_t count = std::max<std::size_t>(1, lanes_.size() - (shared_ ? 1 : 0));
  return *lanes_[std::hash<std::string_view>()(key) % count];
}

void Sessions::submit(std::string_view key, Job job) {
  Lane& lane = lane_of(key);
  {
    const std::lock_guard lock(lane.mutex);
    if (!lane.stop && lane.jobs.size() < options_.queue) {
      lane.jobs.push_back(std::move(job));
      lane.wake.notify_one();
      return;
    }
  }
  ++failed_;
  if (job.done) job.done(fault(FaultKind::busy, "too much is waiting"));
}

void Sessions::set_address(NodeAddress address) {
  {
    const std::lock_guard lock(address_mutex_);
    address_ = std::move(address);
  }
  address_changed_ = true;
  tick_soon();
}

void Sessions::set_tick(std::function<void(Tables*)> tick) {
  const std::lock_guard lock(tick_mutex_);
  tick_ = std::move(tick);
}

void Sessions::tick_soon() {
  if (!ticks_) return;
  Lane& keeper = *lanes_.back();
  {
    const std::lock_guard lock(keeper.mutex);
    keeper.tick = true;
  }
  keeper.wake.notify_one();
}

void Sessions::work(Lane& lane, bool keeper) {
  for (;;) {
    if (keeper) {
      beat(lane);
      run_tick(lane);
      sweep(lane);
    }
    std::unique_lock lock(lane.mutex);
    const auto ready = [&] { return lane.stop || !lane.jobs.empty() || lane.tick; };
    auto until = steady_clock::time_point::max();
    if (keeper) until = lane.next_sweep;
    if (keeper && shared_) until = std::min(until, lane.next_beat);
    if (keeper && ticks_) until = std::min(until, lane.next_tick);
    if (!lane.later.empty()) until = std::min(until, lane.retry_at + options_.first_retry);
    if (until == steady_clock::time_point::max()) {
      lane.wake.wait(lock, ready);
    } else {
      lane.wake.wait_until(lock, until, ready);
    }
    std::optional<Job> job;
    if (!lane.jobs.empty()) {
      job = std::move(lane.jobs.front());
      lane.jobs.pop_front();
    }
    const bool stop = lane.stop && !job;
    lock.unlock();
    if (job) {
      execute(lane, std::move(*job));
    } else {
      catch_up(lane);
    }
    if (stop) break;
  }
  if (keeper && shared_) leave(lane);
}

Attempt<Sessions::Tables*> Sessions::open(Lane& lane) {
  if (lane.tables != nullptr) return lane.tables.get();
  if (lane.trouble && steady_clock::now() < lane.retry_at) return tl::unexpected(*lane.trouble);
  // The request log is what makes a new file in place of one that was lost.
  DatabaseOptions options = options_.database;
  options.must_exist = lane.lost_file;
  auto database = open_migrated(url_, options);
  if (!database) {
    after_fault(lane, database.error());
    return tl::unexpected(database.error());
  }
  lane.database = std::move(*database);
  lane.tables.reset(new Tables{SessionTable(*lane.database), NodeTable(*lane.database, node_),
                               MemoryTable(*lane.database), ResponseTable(*lane.database),
                               KeyTable(*lane.database), BudgetTable(*lane.database, node_),
                               RoomTable(*lane.database, node_)});
  lane.lost_file = false;
  lane.trouble.reset();
  lane.pause = std::chrono::milliseconds(0);
  note_problem({});
  return lane.tables.get();
}

void Sessions::after_fault(Lane& lane, const Fault& fault) {
  if (keeps_connection(fault.kind)) return;
  lane.tables.reset();
  lane.database.reset();
  if (fault.kind == FaultKind::gone || fault.kind == FaultKind::truncated) lane.lost_file = true;
  if (fault.kind == FaultKind::cannot_open || !lane.trouble) note_problem(fault.message);
  lane.trouble = fault;
  lane.retry_at = steady_clock::now() + lane.pause;
  lane.pause = std::clamp(lane.pause * 2, options_.first_retry, options_.last_retry);
}

Attempt<void> Sessions::try_job(Lane& lane, Job& job) {
  Attempt<void> outcome;
  for (int tried = 0; tried < kTries; ++tried) {
    const Attempt<Tables*> tables = open(lane);
    if (!tables) return tl::unexpected(tables.error());
    outcome = lane.database->verify();
    if (outcome) outcome = job.run(**tables);
    if (outcome) return outcome;
    after_fault(lane, outcome.error());
    if (!is_retryable(outcome.error().kind)) return outcome;
    if (keeps_connection(outcome.error().kind)) std::this_thread::sleep_for(kBetweenTries);
  }
  return outcome;
}

void Sessions::catch_up(Lane& lane) {
  while (!lane.later.empty()) {
    const Attempt<void> outcome = try_job(lane, lane.later.front());
    if (!outcome && is_retryable(outcome.error().kind)) return;
    outcome ? ++done_ : ++failed_;
    lane.later.pop_front();
  }
}

void Sessions::execute(Lane& lane, Job job) {
  Attempt<void> outcome = fault(FaultKind::busy, "the store is being closed");
  const bool late = closing_ && steady_clock::now() > close_by_;
  if (!late) {
    catch_up(lane);
    outcome =
        lane.later.empty() ? try_job(lane, job) : tl::unexpected(lane.trouble.value_or(Fault{}));
  }
  outcome ? ++done_ : ++failed_;
  if (job.done) job.done(outcome);
  if (outcome || late || !job.patient || !is_retryable(outcome.error().kind)) return;
  if (lane.later.size() >= options_.queue) lane.later.pop_front();
  lane.later.push_back(std::move(job));
}

void Sessions::beat(Lane& lane) {
  if (!shared_) return;
  if (!address_changed_.exchange(false) && steady_clock::now() < lane.next_beat) return;
  lane.next_beat = steady_clock::now() + options_.lease_ttl / 5;
  const Attempt<Tables*> tables = open(lane);
  if (!tables) return;
  NodeAddress address;
  {
    const std::lock_guard lock(address_mutex_);
    address = address_;
  }
  const auto beaten = (*tables)->nodes.beat(options_.lease_ttl, address);
  if (!beaten) after_fault(lane, beaten.error());
}

// In small steps, so that no caller waits long for it.
void Sessions::sweep(Lane& lane) {
  if (steady_clock::now() < lane.next_sweep) return;
  const bool first = lane.next_sweep == steady_clock::time_point{};
  lane.next_sweep = steady_clock::now() + options_.sweep_every;
  // Not at the start: cleaning up can wait, and SQLite opens when it is first needed.
  if (first) return;
  const Attempt<Tables*> tables = open(lane);
  if (!tables) return;
  for (int step = 0; step < kSweepSteps && !closing_; ++step) {
    const auto swept = (*tables)->sessions.sweep(kSweepRows);
    if (!swept) return after_fault(lane, swept.error());
    const auto forgotten = (*tables)->memory.sweep(kSweepMemories);
    if (!forgotten) return after_fault(lane, forgotten.error());
    const auto expired = (*tables)->responses.sweep(kSweepRows);
    if (!expired) return after_fault(lane, expired.error());
    if (*swept < static_cast<std::int64_t>(kSweepRows) &&
        *forgotten < static_cast<std::int64_t>(kSweepMemories) &&
        *expired < static_cast<std::int64_t>(kSweepRows)) {
      break;
    }
  }
  const auto budgets = (*tables)->budgets.sweep();
  if (!budgets) return after_fault(lane, budgets.error());
  if (!shared_) return;
  const auto swept = (*tables)->nodes.sweep();
  if (!swept) return after_fault(lane, swept.error());
  const auto silent = (*tables)->rooms.sweep(kRoomsKept);
  if (!silent) after_fault(lane, silent.error());
}

void Sessions::run_tick(Lane& lane) {
  if (!ticks_) return;
  {
    const std::lock_guard lock(lane.mutex);
    if (!std::exchange(lane.tick, false) && steady_clock::now() < lane.next_tick) return;
  }
  lane.next_tick = steady_clock::now() + options_.tick;
  const std::lock_guard lock(tick_mutex_);
  if (!tick_) return;
  const Attempt<Tables*> tables = open(lane);
  Attempt<void> usable;
  if (tables) usable = lane.database->verify();
  if (!usable) after_fault(lane, usable.error());
  tick_(tables && usable ? *tables : nullptr);
}

// Others need not wait for the leases of a node that ends in peace.
void Sessions::leave(Lane& lane) {
  if (lane.tables != nullptr) static_cast<void>(lane.tables->nodes.leave());
}

void Sessions::note_problem(std::string problem) {
  {
    const std::lock_guard lock(health_mutex_);
    if (problem == problem_) return;
    problem_ = problem;
  }
  if (!problem.empty() && options_.on_problem) options_.on_problem("sessions: " + problem);
}

}  // namespace callgate::store
