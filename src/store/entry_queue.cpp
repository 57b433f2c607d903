#include "store/entry_queue.h"

#include <algorithm>

#include "base/check.h"

namespace callgate::store {

void EntryQueue::push(Entry entry, std::size_t limit) {
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    if (stopped_ || pushed_count_ - settled_count_ >= limit) {
      dropped_.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    ++pushed_count_;
    if (entries_.empty()) entries_since_ = std::chrono::steady_clock::now();
    entries_.push_back(std::move(entry));
    wake = entries_.size() == 1 || entries_.size() == batch_;
  }
  if (wake) work_.notify_one();
}

bool EntryQueue::take(std::vector<Entry>& taken, std::chrono::milliseconds patience) {
  CALLGATE_CHECK(taken.empty());
  std::unique_lock lock(mutex_);
  if (!work_.wait_for(lock, patience, [this] { return stopped_ || !entries_.empty(); }))
    return true;
  work_.wait_for(lock, linger_,
                 [this] { return stopped_ || flushing_ > 0 || entries_.size() >= batch_; });
  std::swap(entries_, taken);
  taken_since_ = entries_since_;
  taken_count_ = taken.size();
  return !taken.empty();
}

void EntryQueue::settle(std::size_t count) {
  const std::lock_guard lock(mutex_);
  settled_count_ += count;
  taken_count_ -= std::min(taken_count_, count);
  CALLGATE_CHECK(settled_count_ <= pushed_count_);
  if (flushing_ > 0) settled_.notify_all();
}

void EntryQueue::pause(std::chrono::milliseconds pause) {
  std::unique_lock lock(mutex_);
  work_.wait_for(lock, pause, [this] { return stopped_; });
}

bool EntryQueue::flush(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  const std::uint64_t target = pushed_count_;
  ++flushing_;
  work_.notify_one();
  const bool done = settled_.wait_for(lock, timeout, [&] { return settled_count_ >= target; });
  --flushing_;
  return done;
}

void EntryQueue::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  work_.notify_all();
}

std::chrono::milliseconds EntryQueue::lag() const {
  using std::chrono::milliseconds;
  const auto now = std::chrono::steady_clock::now();
  const std::lock_guard lock(mutex_);
  if (taken_count_ == 0 && entries_.empty()) return milliseconds(0);
  return std::chrono::duration_cast<milliseconds>(
      now - (taken_count_ > 0 ? taken_since_ : entries_since_));
}

std::size_t EntryQueue::depth() const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::size_t>(pushed_count_ - settled_count_);
}

}  // namespace callgate::store
