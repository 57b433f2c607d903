// A turn as those who watch see it: its rows in the live feed, and what may be looked at while it runs. Costs one relaxed load
// each time while nobody watches.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "callgate/pipeline.h"
#include "recorder/live_feed.h"
#include "store/request_log.h"
#include "turn/turn_job.h"

namespace callgate::server {

class LiveTurn {
 public:
  // A turn says so often how far it has come, at most.
  static constexpr std::uint64_t kPauseMs = 100;

  // REQUIRES: all outlive it.
  LiveTurn(LiveFeed& feed, net::Loop& loop, const TurnJob& job)
      : feed_(feed), loop_(loop), job_(job) {}

  bool is_watched() const { return feed_.is_watched(); }

  // The rest is for turns that are watched. `record` as it is logged; its content is left out.
  void begin(const store::RequestRecord& record, LiveProgress progress);
  bool has_begun() const { return record_ != nullptr; }
  // `force`: a new phase, which is told whatever was told just before.
  void progress(LiveProgress progress, bool force);
  void end(const store::RequestOutcome& outcome);

 private:
  LiveFeed& feed_;
  net::Loop& loop_;
  const TurnJob& job_;
  std::shared_ptr<const store::RequestRecord> record_;  // nullptr: nobody has heard of it
  std::optional<LiveFeed::Entry> entry_;
  std::uint64_t told_ms_ = 0;
};

}  // namespace callgate::server
