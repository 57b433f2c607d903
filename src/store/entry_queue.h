// The bounded queue between event loops and the writer thread. push() never waits for room: it holds
// the lock for one move, and the writer holds it for one swap.
//
// Bodies that do not fit are shed: the entry stays without them. An entry that does not fit even so
// is dropped. Both are counted.
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

struct QueueLimits {
  // An entry counts until it is settled. Begins are refused at `entries`, completes at twice that:
  // when something must go, whole requests go before the ends of written ones.
  std::size_t entries = 10'000;
  std::size_t bytes = 64u << 20;  // of bodies
  std::size_t batch = 512;
  std::chrono::milliseconds linger{20};
};

class EntryQueue {
 public:
  explicit EntryQueue(const QueueLimits& limits) : limits_(limits) {}

  // From any thread. A refused entry is counted as dropped.
  void push(RequestRecord record) { push(Entry(std::move(record)), limits_.entries); }
  void push(RequestOutcome outcome) { push(Entry(std::move(outcome)), 2 * limits_.entries); }

  // Waits for entries, then for `linger` or a full batch, and moves all of them to the empty
  // `taken`, which stays empty when none comes within `patience`. False when the queue is stopped
  // and empty.
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
  // Entries that lost their bodies.
  std::uint64_t shed() const { return shed_.load(std::memory_order_relaxed); }

 private:
  void push(Entry entry, std::size_t limit);
  bool fits(std::size_t size, std::size_t limit) const;

  const QueueLimits limits_;

  mutable std::mutex mutex_;
  std::condition_variable work_;     // for the writer
  std::condition_variable settled_;  // for flush()
  std::vector<Entry> entries_;
  std::chrono::steady_clock::time_point entries_since_;  // of the first of them
  std::chrono::steady_clock::time_point taken_since_;    // of the first that was taken
  std::size_t taken_count_ = 0;                          // and is not settled yet
  std::size_t entries_bytes_ = 0;
  std::size_t taken_bytes_ = 0;
  std::uint64_t pushed_count_ = 0;
  std::uint64_t settled_count_ = 0;
  int flushing_ = 0;  // calls of flush() that wait
  bool stopped_ = false;
  std::atomic<std::uint64_t> dropped_ = 0;
  std::atomic<std::uint64_t> shed_ = 0;
};

// Bytes of the bodies of an entry.
std::size_t body_bytes(const Entry& entry);
void shed_bodies(Entry& entry);

}  // namespace callgate::store
