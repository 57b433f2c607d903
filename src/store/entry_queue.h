// The bounded queue between event loops and the writer thread. push() holds the lock for one move;
// the writer holds it for one swap.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <variant>
#include <vector>

#include "store/request_log.h"

namespace callgate::store {

using Entry = std::variant<RequestRecord, RequestOutcome>;

class EntryQueue {
 public:
  // An entry counts against the limit until it is settled. Begins are refused at `limit`, completes
  // at twice that: when something must go, whole requests go before the ends of written ones.
  EntryQueue(std::size_t limit, std::size_t batch, std::chrono::milliseconds linger)
      : limit_(limit), batch_(batch), linger_(linger) {}

  // From any thread. A refused entry is counted as dropped.
  void push(RequestRecord record) { push(Entry(std::move(record)), limit_); }
  void push(RequestOutcome outcome) { push(Entry(std::move(outcome)), 2 * limit_); }

  // Waits for entries, then for `linger` or a full batch, and moves all of them to the empty
  // `taken`; gives none when there are none for `patience`. False when the queue is stopped and
  // empty.
  bool take(std::vector<Entry>& taken, std::chrono::milliseconds patience);
  // `count` taken entries are written or lost.
  void settle(std::size_t count);
  // Sleeps for `pause`, less when the queue is stopped.
  void pause(std::chrono::milliseconds pause);

  // Waits until all that was pushed before is settled.
  bool flush(std::chrono::milliseconds timeout);
  // No entry is accepted any more; take() gives what is left.
  void stop();

  std::size_t depth() const;
  // How long the oldest entry has waited to be settled; for entries of one batch, its oldest.
  std::chrono::milliseconds lag() const;
  std::uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

 private:
  void push(Entry entry, std::size_t limit);

  const std::size_t limit_;
  const std::size_t batch_;
  const std::chrono::milliseconds linger_;

  mutable std::mutex mutex_;
  std::condition_variable work_;     // for the writer
  std::condition_variable settled_;  // for flush()
  std::vector<Entry> entries_;
  std::chrono::steady_clock::time_point entries_since_;  // of the first of them
  std::chrono::steady_clock::time_point taken_since_;    // of the first that was taken
  std::size_t taken_count_ = 0;                          // and is not settled yet
  std::uint64_t pushed_count_ = 0;
  std::uint64_t settled_count_ = 0;
  int flushing_ = 0;
  bool stopped_ = false;
  std::atomic<std::uint64_t> dropped_ = 0;
};

}  // namespace callgate::store
