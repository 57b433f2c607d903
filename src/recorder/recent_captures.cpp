#include "recorder/recent_captures.h"

#include <algorithm>

#include "capture/capture_mask.h"

namespace callgate::server {

void RecentCaptures::keep(CaptureJob job, const CaptureConfig& config) {
  const auto most = static_cast<std::size_t>(config.recent);
  if (most == 0 || job.reserved > config.recent_bytes.count) return;
  const std::lock_guard lock(mutex_);
  bytes_ += job.reserved;
  jobs_.push_back(std::move(job));
  while (jobs_.size() > most || bytes_ > config.recent_bytes.count) {
    bytes_ -= jobs_.front().reserved;
    jobs_.pop_front();
  }
}

std::optional<std::string> RecentCaptures::find(std::string_view request_id,
                                                std::string_view key) const {
  CaptureJob job;
  {
    const std::lock_guard lock(mutex_);
    const auto find = [&](bool own) {
      return std::find_if(jobs_.rbegin(), jobs_.rend(), [&](const CaptureJob& kept) {
        return kept.record.request_id == request_id && (!own || kept.key == key);
      });
    };
    auto found = find(true);
    if (found == jobs_.rend()) found = find(false);
    if (found == jobs_.rend()) return std::nullopt;
    job = *found;
  }
  return print_masked(std::move(job));
}

}  // namespace callgate::server
