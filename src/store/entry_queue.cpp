#include "store/entry_queue.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace callgate::store {
namespace {

// clear() and an assignment would keep the memory.
void free_text(std::string& text) { std::string().swap(text); }

}  // namespace

std::size_t body_bytes(const Entry& entry) {
  if (const auto* record = std::get_if<RequestRecord>(&entry)) return record->received.size();
  const auto& outcome = std::get<RequestOutcome>(entry);
  std::size_t bytes =
      outcome.sent.size() + outcome.response.size() + outcome.events.size() + outcome.search.size();
  for (const CallRow& call : outcome.call_rows) bytes += call.result ? call.result->text.size() : 0;
  return bytes;
}

void shed_bodies(Entry& entry) {
  if (auto* record = std::get_if<RequestRecord>(&entry)) {
    free_text(record->received);
    return;
  }
  auto& outcome = std::get<RequestOutcome>(entry);
  for (std::string* body : {&outcome.sent, &outcome.response, &outcome.events, &outcome.search}) {
    free_text(*body);
  }
  for (CallRow& call : outcome.call_rows) {
    if (call.result) free_text(call.result->text);
  }
}

bool EntryQueue::fits(std::size_t size, std::size_t limit) const {
  return pushed_count_ - settled_count_ < limit &&
         (size == 0 || entries_bytes_ + taken_bytes_ + size <= limits_.bytes);
}

void EntryQueue::push(Entry entry, std::size_t limit) {
  std::size_t size = body_bytes(entry);
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    if (stopped_ || !fits(0, limit)) {
      dropped_.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    if (!fits(size, limit)) {
      shed_bodies(entry);
      shed_.fetch_add(1, std::memory_order_relaxed);
      size = 0;
    }
    ++pushed_count_;
    entries_bytes_ += size;
    if (entries_.empty()) entries_since_ = std::chrono::steady_clock::now();
    entries_.push_back(std::move(entry));
    wake = entries_.size() == 1 || entries_.size() == limits_.batch;
  }
  if (wake) work_.notify_one();
}

bool EntryQueue::take(std::vector<Entry>& taken, std::chrono::milliseconds patience) {
  CALLGATE_CHECK(taken.empty());
  std::unique_lock lock(mutex_);
  if (!work_.wait_for(lock, patience, [this] { return stopped_ || !entries_.empty(); }))
    return true;
  work_.wait_for(lock, limits_.linger,
                 [this] { return stopped_ || flushing_ > 0 || entries_.size() >= limits_.batch; });
  std::swap(entries_, taken);
  taken_bytes_ = std::exchange(entries_bytes_, 0);
  taken_since_ = entries_since_;
  taken_count_ = taken.size();
  return !taken.empty();
}

void EntryQueue::settle(std::size_t count) {
  const std::lock_guard lock(mutex_);
  settled_count_ += count;
  taken_count_ -= std::min(taken_count_, count);
  CALLGATE_CHECK(settled_count_ <= pushed_count_);
  if (taken_count_ == 0) taken_bytes_ = 0;
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
