// Captures of the latest turns: of those that failed or look suspicious, and of those that somebody watched. They stay in
// memory, so that one can ask for them afterwards.
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
  enum class Why : std::uint8_t {
    suspicious,  // capture.recent of them
    watched,     // kWatchedTurns of them
  };
  static constexpr std::size_t kWatchedTurns = 256;

  // From any thread. The oldest of the same kind make room; one that is too large for all of them is not kept.
  void keep(CaptureJob job, const CaptureConfig& config, Why why = Why::suspicious);
  // The file that it would be, without secrets. Nothing: it is not there, or not any more. Of several with this id the
  // latest of `key` is given, or the latest of all.
  std::optional<std::string> find(std::string_view request_id, std::string_view key) const;
  // The same, with its secrets.
  std::optional<CaptureJob> find_job(std::string_view request_id, std::string_view key) const;

 private:
  struct Ring {
    std::deque<CaptureJob> jobs;  // the oldest first
    std::uint64_t bytes = 0;
  };
  mutable std::mutex mutex_;
  Ring suspicious_;
  Ring watched_;
};

}  // namespace callgate::server
