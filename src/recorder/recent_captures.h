// Captures of the latest turns that failed or look suspicious. They stay in memory, for somebody who asks afterwards.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "config/config.h"
#include "recorder/capture_writer.h"

namespace callgate::server {

class RecentCaptures {
 public:
  // From any thread. The oldest make room; one that is too large for all of them is not kept.
  void keep(CaptureJob job, const CaptureConfig& config);
  // The file that it would be, without secrets. Nothing: it is not there, or not any more. Of several with this id the
  // latest of `key` is given, or the latest of all.
  std::optional<std::string> find(std::string_view request_id, std::string_view key) const;

 private:
  mutable std::mutex mutex_;
  std::deque<CaptureJob> jobs_;  // the oldest first
  std::uint64_t bytes_ = 0;
};

}  // namespace callgate::server
