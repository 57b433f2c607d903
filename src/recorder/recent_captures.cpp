#include "recorder/recent_captures.h"

#include <algorithm>

#include "capture/capture_mask.h"

namespace callgate::server {

void RecentCaptures::keep(CaptureJob job, const CaptureConfig& config, Why why) {
  const bool watched = why == Why::watched;
  const std::size_t most = watched ? kWatchedTurns : static_cast<std::size_t>(config.recent);
  const std::uint64_t most_bytes = config.recent_bytes.count;
  if (most == 0 || job.reserved > most_bytes) return;
  const std::lock_guard lock(mutex_);
  Ring& ring = watched ? watched_ : suspicious_;
  ring.bytes += job.reserved;
  ring.jobs.push_back(std::move(job));
  while (ring.jobs.size() > most || ring.bytes > most_bytes) {
    ring.bytes -= ring.jobs.front().reserved;
    ring.jobs.pop_front();
  }
}

std::optional<CaptureJob> RecentCaptures::find_job(std::string_view request_id,
                                                   std::string_view key) const {
  const std::lock_guard lock(mutex_);
  for (const bool own : {true, false}) {
    for (const Ring* ring : {&suspicious_, &watched_}) {
      const auto found =
          std::find_if(ring->jobs.rbegin(), ring->jobs.rend(), [&](const CaptureJob& kept) {
            return kept.record.request_id == request_id && (!own || kept.key == key);
          });
      if (found != ring->jobs.rend()) return *found;
    }
  }
  return std::nullopt;
}

std::optional<std::string> RecentCaptures::find(std::string_view request_id,
                                                std::string_view key) const {
  std::optional<CaptureJob> job = find_job(request_id, key);
  if (!job) return std::nullopt;
  return print_masked(std::move(*job));
}

}  // namespace callgate::server
