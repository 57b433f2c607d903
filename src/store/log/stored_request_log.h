// The request log in a database: the queue, the writer thread, and what it does when the store
// fails. Questions go over connections of their own.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <vector>

#include "store/entry_fold.h"
#include "store/entry_queue.h"
#include "store/log/readers.h"
#include "store/request_log.h"
#include "store/request_writer.h"
#include "store/retention.h"
#include "store/run_database.h"
#include "store/spool.h"

namespace callgate::store {

class StoredRequestLog final : public RequestLog {
 public:
  // Tries to open once before the writer starts; make_request_log() says which
  // faults are final.
  static Result<std::unique_ptr<StoredRequestLog>> open(std::string url, RequestLogOptions options);
  ~StoredRequestLog() override;

  void begin(RequestRecord record) override;
  void complete(RequestOutcome outcome) override;
  Health health() const override;
  std::uint64_t recorded() const override { return recorded_.load(std::memory_order_relaxed); }
  bool is_down() const override { return down_.load(std::memory_order_relaxed); }
  bool flush(std::chrono::milliseconds timeout) override { return queue_.flush(timeout); }
  Result<std::vector<RequestRow>> recent(std::size_t limit) override;
  Result<std::optional<RequestRow>> get(RequestName name) override;
  Result<RequestPage> search(const RequestFilter& filter) override;
  Result<bool> resolve(RequestName name, std::optional<std::int64_t> at,
                       std::string_view note) override;
  Result<std::vector<CallRow>> calls(RequestName name) override;
  Result<RequestContent> content(RequestName name) override;
  using RequestLog::usage;
  Result<std::vector<UsageRow>> usage(const UsageQuestion& question) override;
  Result<StoreStats> stats() override;

 private:
  StoredRequestLog(std::string url, RequestLogOptions options);

  // On the writer thread. REQUIRES, for those with database in their comment: database_mutex_ is
  // held.
  void write_until_stopped();
  void open_until_stopped();
  void write_batch(const std::vector<Entry>& entries);
  bool write_some(std::span<Write> writes);
  // Gives how many of them are in the journal now.
  std::size_t spool_some(std::span<const Write> writes);
  // False when the store is still down.
  bool replay_some();
  void acknowledge(std::span<const Write> writes);
  std::chrono::milliseconds patience() const;
  bool give_up() const;
  void wait_to_retry(std::chrono::milliseconds& pause);
  Attempt<void> ensure_open();  // database
  void look();
  void tend();
  // What the queue shed or dropped since the last report; at most one in `report_every` unless `now`.
  void report_losses(bool now);
  void note_fault(const Fault& fault);
  void note_success();
  void close();

  template <class Query>
  auto ask(Query query) -> Result<typename std::invoke_result_t<Query, Database&>::value_type>;
  // Of a database in memory, which only the writer sees.
  template <class Query>
  std::invoke_result_t<Query, Database&> ask_writer(Query& query);

  const std::string url_;
  const std::string name_;  // of the store, for messages
  const RequestLogOptions options_;
  EntryQueue queue_;
  EntryFold fold_;  // the writer's own
  RequestWriter writer_;
  Spool spool_;
  std::chrono::steady_clock::time_point next_replay_{};
  std::chrono::milliseconds replay_pause_{0};

  std::mutex database_mutex_;
  std::unique_ptr<RunDatabase> database_;
  std::atomic<bool> is_open_ = false;
  std::chrono::steady_clock::time_point next_tend_{};

  // The writer's own.
  std::chrono::steady_clock::time_point next_report_{};
  std::uint64_t reported_shed_ = 0;
  std::uint64_t reported_dropped_ = 0;

  Readers readers_;

  mutable std::mutex health_mutex_;
  std::string problem_;
  std::string notice_;

  std::atomic<std::uint64_t> recorded_ = 0;
  std::atomic<std::uint64_t> lost_ = 0;  // taken from the queue, but not written
  std::atomic<std::uint64_t> errors_ = 0;
  std::atomic<std::uint64_t> spooled_ = 0;
  std::atomic<bool> down_ = false;
  std::atomic<bool> stopping_ = false;
  std::atomic<std::chrono::steady_clock::time_point> deadline_{};
  std::thread thread_;
  std::unique_ptr<Sweeper> sweeper_;
};

}  // namespace callgate::store
