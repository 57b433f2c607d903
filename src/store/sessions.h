// The sessions of a store, for event loops: what is asked runs on threads of the store, each with a
// connection of its own, and the answer comes back to the loop that asked.
//
// SQLite has one thread. PostgreSQL has a few, and one more that keeps this node alive among those
// that share the database: its leases hold for `lease_ttl` after it was last heard of.
//
// A store that is away answers `unavailable` at once, except to the one caller that finds it out.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "callgate/result.h"
#include "net/loop.h"
#include "net/task.h"
#include "store/database.h"
#include "store/keys/budget_table.h"
#include "store/keys/key_table.h"
#include "store/memory_table.h"
#include "store/node_table.h"
#include "store/response_table.h"
#include "store/rooms/room_table.h"
#include "store/session_table.h"

namespace callgate::store {

struct SessionsOptions {
  DatabaseOptions database;
  std::size_t connections = 3;                     // PostgreSQL
  std::size_t queue = 10'000;                      // what may wait for each thread
  std::chrono::milliseconds timeout{2'000};        // how long a caller waits
  std::chrono::milliseconds keep{24 * 3'600'000};  // sessions and answers after their last use
  std::chrono::milliseconds lease_ttl{5'000};
  std::chrono::milliseconds tick{250};
  bool tick_alone = false;  // also where the store is not shared
  std::chrono::milliseconds sweep_every{30'000};
  std::chrono::milliseconds first_retry{100};
  std::chrono::milliseconds last_retry{2'000};
  std::chrono::milliseconds close_timeout{2'000};
  std::function<void(std::string_view problem)> on_problem;  // on a thread of the store
};

class Sessions {
 public:
  struct Tables {
    SessionTable sessions;
    NodeTable nodes;
    MemoryTable memory;
    ResponseTable responses;
    KeyTable keys;
    BudgetTable budgets;
    RoomTable rooms;
  };
  struct Health {
    bool healthy = true;
    std::string problem;
    std::uint64_t done = 0;
    std::uint64_t failed = 0;  // also what could not even be tried
    std::size_t queued = 0;
  };

  // `sqlite:...` or `postgresql://...`. Connects when it is first needed. `node` names this process
  // among those that share the store.
  Sessions(std::string url, std::string node, SessionsOptions options);
  // Does what is queued, up to close_timeout. Loops may be gone by then.
  ~Sessions();
  Sessions(const Sessions&) = delete;
  Sessions& operator=(const Sessions&) = delete;

  // Several gateways may use it at the same time.
  bool shared() const { return shared_; }
  const std::string& node() const { return node_; }
  const std::string& url() const { return url_; }
  // How other nodes reach this one, from the next sign of life on, which comes at once.
  void set_address(NodeAddress address);
  std::chrono::milliseconds keep() const { return keep_.load(); }
  void set_keep(std::chrono::milliseconds keep) { keep_ = keep; }
  Health health() const;

  // Any thread. `run` is called on a thread of the store, again after a fault that may pass. `done`,
  // if there is one, is called once, there or within this call. What has the same key is done in
  // the order in which it was submitted.
  struct Job {
    std::function<Attempt<void>(Tables&)> run;
    std::function<void(const Attempt<void>&)> done;
    // When the store is away, done() says so, and the job is run when it is back, before whatever
    // else has its key.
    bool patient = false;
  };
  void submit(std::string_view key, Job job);

  // Loop thread. `query` is Attempt<T>(Tables&) for a T that is not void.
  template <class Query>
  auto ask(net::Loop& loop, std::string key, Query query, bool patient = false)
      -> net::Task<Result<typename std::invoke_result_t<Query&, Tables&>::value_type>>;

  // Called each `tick`, and soon after tick_soon(), on a thread of the store; with nullptr while the
  // store is away. For a shared store, or with `tick_alone`. Nothing is called any more when set_tick({}) returns.
  void set_tick(std::function<void(Tables*)> tick);
  void tick_soon();

 private:
  struct Lane;
  template <class T>
  struct Answer;

  void work(Lane& lane, bool keeper);
  void execute(Lane& lane, Job job);
  Attempt<void> try_job(Lane& lane, Job& job);
  // Runs what waited for the store to be back.
  void catch_up(Lane& lane);
  Attempt<Tables*> open(Lane& lane);
  void after_fault(Lane& lane, const Fault& fault);
  void beat(Lane& lane);
  void sweep(Lane& lane);
  void run_tick(Lane& lane);
  void leave(Lane& lane);
  void note_problem(std::string problem);
  Lane& lane_of(std::string_view key);

  const std::string url_;
  const std::string node_;
  const SessionsOptions options_;
  const bool shared_;
  const bool ticks_;
  std::atomic<std::chrono::milliseconds> keep_;

  mutable std::mutex health_mutex_;
  std::string problem_;
  std::atomic<std::uint64_t> done_ = 0;
  std::atomic<std::uint64_t> failed_ = 0;
  std::atomic<bool> closing_ = false;
  std::chrono::steady_clock::time_point close_by_{};

  std::mutex address_mutex_;
  NodeAddress address_;
  std::atomic<bool> address_changed_ = false;

  std::mutex tick_mutex_;
  std::function<void(Tables*)> tick_;

  std::vector<std::unique_ptr<Lane>> lanes_;  // the last one is the keeper's
};

// What an asker waits for. The asker may go away, and its loop with it.
template <class T>
struct Sessions::Answer {
  explicit Answer(net::Loop& its_loop) : loop(&its_loop), signal(its_loop) {}

  std::mutex mutex;
  net::Loop* loop;  // nullptr: the caller has left
  net::Signal signal;
  std::optional<T> value;  // of the store's thread until it is finished
  std::optional<Fault> fault;
  bool finished = false;

  static void finish(const std::shared_ptr<Answer>& self, const Attempt<void>& outcome) {
    const std::lock_guard lock(self->mutex);
    if (!outcome) self->fault = outcome.error();
    self->finished = true;
    if (self->loop != nullptr) self->loop->post([self] { self->signal.notify(); });
  }

  // Goes with the asker.
  struct Hold {
    explicit Hold(std::shared_ptr<Answer> held) : answer(std::move(held)) {}
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;
    ~Hold() {
      const std::lock_guard lock(answer->mutex);
      answer->loop = nullptr;
    }
    const std::shared_ptr<Answer> answer;
  };
};

Error to_error(const Fault& fault);

template <class Query>
auto Sessions::ask(net::Loop& loop, std::string key, Query query, bool patient)
    -> net::Task<Result<typename std::invoke_result_t<Query&, Tables&>::value_type>> {
  using T = typename std::invoke_result_t<Query&, Tables&>::value_type;
  const typename Answer<T>::Hold hold(std::make_shared<Answer<T>>(loop));
  const std::shared_ptr<Answer<T>> answer = hold.answer;
  Job job;
  job.run = [answer, query = std::move(query)](Tables& tables) mutable -> Attempt<void> {
    Attempt<T> got = query(tables);
    if (!got) return tl::unexpected(std::move(got.error()));
    answer->value = std::move(*got);
    return {};
  };
  job.done = [answer](const Attempt<void>& outcome) { Answer<T>::finish(answer, outcome); };
  job.patient = patient;
  submit(key, std::move(job));
  co_await answer->signal.wait(options_.timeout);
  const std::lock_guard lock(answer->mutex);
  if (!answer->finished) {
    Fault late{FaultKind::timed_out, "no answer in time"};
    co_return tl::unexpected(to_error(late));
  }
  if (answer->fault) co_return tl::unexpected(to_error(*answer->fault));
  co_return std::move(*answer->value);
}

}  // namespace callgate::store
