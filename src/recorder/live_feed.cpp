#include "recorder/live_feed.h"

#include <algorithm>
#include <chrono>
#include <random>
#include <unordered_set>

#include "base/ids.h"

namespace callgate::server {
namespace {

std::uint64_t steady_ms() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

std::string new_epoch() {
  std::random_device device;
  return IdMint((std::uint64_t{device()} << 32) | device()).mint("", 8);
}

std::string_view upstream_of(const LiveRow& row) {
  if (row.outcome != nullptr && !row.outcome->upstream.empty()) return row.outcome->upstream;
  return row.progress.upstream.empty() ? row.record->upstream : row.progress.upstream;
}

}  // namespace

bool LiveFilter::admits(const LiveRow& row) const {
  const auto fits = [](const std::string& wanted, std::string_view is) {
    return wanted.empty() || wanted == is;
  };
  return fits(model, row.record->model) && fits(key, row.record->key_name) &&
         fits(upstream, upstream_of(row));
}

LiveFeed::LiveFeed() : epoch_(new_epoch()) {}

bool LiveFeed::is_watched_now() const {
  std::uint64_t until = watched_until_.load(std::memory_order_relaxed);
  if (steady_ms() < until) return true;
  // From now on the load is enough.
  watched_until_.compare_exchange_strong(until, 0, std::memory_order_relaxed);
  return false;
}

void LiveFeed::stay_until(std::uint64_t ms) { watched_until_.store(ms, std::memory_order_relaxed); }

bool LiveFeed::may_progress(std::uint64_t now_ms) {
  constexpr unsigned kCountBits = 16;
  const std::uint64_t window = now_ms / kWindowMs;
  std::uint64_t seen = window_.load(std::memory_order_relaxed);
  for (;;) {
    const bool same = seen >> kCountBits == window;
    if (same && (seen & ((1u << kCountBits) - 1)) >= kProgressPerWindow) return false;
    const std::uint64_t next = same ? seen + 1 : (window << kCountBits) + 1;
    if (window_.compare_exchange_weak(seen, next, std::memory_order_relaxed)) return true;
  }
}

void LiveFeed::add(LiveRow row) {
  const std::lock_guard lock(mutex_);
  row.number = last_.load(std::memory_order_relaxed) + 1;
  rows_.push_back(std::move(row));
  if (rows_.size() > kHistory) rows_.pop_front();
  last_.store(rows_.back().number, std::memory_order_relaxed);
}

LiveFeed::News LiveFeed::read(std::uint64_t after, const LiveFilter& filter) const {
  News news;
  {
    const std::lock_guard lock(mutex_);
    news.last = last_.load(std::memory_order_relaxed);
    const std::uint64_t first = rows_.empty() ? news.last + 1 : rows_.front().number;
    news.has_gap = after + 1 < first;
    const std::uint64_t skip = after + 1 > first ? after + 1 - first : 0;
    for (std::size_t i = skip; i < rows_.size(); ++i) {
      if (filter.admits(rows_[i])) news.rows.push_back(rows_[i]);
    }
  }
  std::unordered_set<const store::RequestRecord*> seen;
  const auto is_old = [&](const LiveRow& row) { return !seen.insert(row.record.get()).second; };
  std::reverse(news.rows.begin(), news.rows.end());
  news.rows.erase(std::remove_if(news.rows.begin(), news.rows.end(), is_old), news.rows.end());
  std::reverse(news.rows.begin(), news.rows.end());
  return news;
}

LiveFeed::Viewer::Viewer(LiveFeed& feed)
    : feed_(feed), admitted_(feed.viewers_.fetch_add(1, std::memory_order_relaxed) < kViewers) {
  if (admitted_) stay();
}

LiveFeed::Viewer::~Viewer() { feed_.viewers_.fetch_sub(1, std::memory_order_relaxed); }

void LiveFeed::Viewer::stay() { feed_.stay_until(steady_ms() + kLingerMs); }

LiveFeed::Entry::Entry(LiveFeed& feed, net::Loop& loop, std::string request, Look look)
    : feed_(feed), request_(std::move(request)), look_(std::make_shared<Look>(std::move(look))) {
  const std::lock_guard lock(feed_.mutex_);
  feed_.running_[request_] = {&loop, look_};
}

LiveFeed::Entry::~Entry() {
  const std::lock_guard lock(feed_.mutex_);
  const auto found = feed_.running_.find(request_);
  if (found != feed_.running_.end() && found->second.look.lock() == look_) {
    feed_.running_.erase(found);
  }
}

void LiveFeed::look(std::string_view request, net::Loop& loop,
                    std::function<void(std::optional<CaptureJob>)> answer) const {
  Running running;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = running_.find(request); found != running_.end()) running = found->second;
  }
  if (running.loop == nullptr) {
    loop.post([answer = std::move(answer)] { answer(std::nullopt); });
    return;
  }
  running.loop->post([look = running.look, &loop, answer = std::move(answer)]() mutable {
    std::shared_ptr<std::optional<CaptureJob>> seen = std::make_shared<std::optional<CaptureJob>>();
    if (const auto alive = look.lock()) *seen = (*alive)();
    loop.post([seen, answer = std::move(answer)] { answer(std::move(*seen)); });
  });
}

}  // namespace callgate::server
