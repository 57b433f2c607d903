#include "store/entry_queue.h"

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
    entries_.push_back(std::move(entry));
    wake = entries_.size() == 1 || entries_.size() == batch_;
  }
  if (wake) work_.notify_one();
}

bool EntryQueue::take(std::vector<Entry>& taken) {
  CALLGATE_CHECK(taken.empty());
  std::unique_lock lock(mutex_);
  work_.wait(lock, [this] { return stopped_ || !entries_.empty(); });
  work_.wait_for(lock, linger_,
                 [this] { return stopped_ || flushing_ > 0 || entries_.size() >= batch_; });
  std::swap(entries_, taken);
  return !taken.empty();
}

void EntryQueue::settle(std::size_t count) {
  const std::lock_guard lock(mutex_);
  settled_count_ += count;
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

std::size_t EntryQueue::depth() const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::size_t>(pushed_count_ - settled_count_);
}

}  // namespace callgate::store
