// What the gateway tells metrics, log lines and the request log.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "callgate/pipeline.h"
#include "chat/error_word.h"
#include "store/request_log.h"
#include "turn/ask.h"
#include "turn/world.h"

namespace callgate::server {

void observe_begin(World& world, store::RequestRecord record);
// What a turn is known by. An empty trace: it is in none.
struct TurnLabels {
  std::string_view request;
  std::string trace;
  std::string_view model;
  std::string_view dialect;
};
void observe_end(World& world, const TurnLabels& turn, store::RequestOutcome&& outcome,
                 const TurnSummary& summary);
void observe_retry(World& world, const TurnLabels& turn, std::string_view upstream,
                   const Error& error);
// One try at an upstream; nullptr: it answered.
void observe_upstream(World& world, std::string_view upstream, const Error* error);
void observe_refusal(World& world, const Ask& ask, int status, const Error& error);
// What of a request its upstream was not told: names with commas between them, as `x-callgate-dropped` has them.
void observe_dropped(World& world, std::string_view protocol, std::string_view names);
void observe_auth_failure(World& world);
void observe_rate_limited(World& world, std::string_view key);
// `when`: refused, or stopped while it streamed.
void observe_budget(World& world, std::string_view key, std::string_view when);
// What the child program of an upstream tells of itself.
ChildHealth observe_child(World& world, const std::string& upstream);
// `duration` has no value where nobody waited for the end of the run.
void observe_tool_run(World& world, std::string_view tool, std::string_view outcome,
                      std::optional<Milliseconds> duration);
void observe_loop(World& world, std::string_view model, std::string_view end);

// Writes why markup stayed text into the log, at level debug.
class ExplainLog final : public Explainer {
 public:
  // Whether anybody reads it.
  static bool is_wanted(const World& world) {
    return world.log.is_enabled(telemetry::LogLevel::debug);
  }
  // REQUIRES: all that it gets outlives it.
  ExplainLog(World& world, TurnLabels turn) : world_(world), turn_(std::move(turn)) {}
  void stayed_text(const StayedText& text) override;

 private:
  World& world_;
  TurnLabels turn_;
};

// Counts an active stream while it lives.
class StreamGauge {
 public:
  explicit StreamGauge(World& world);
  ~StreamGauge();
  StreamGauge(const StreamGauge&) = delete;
  StreamGauge& operator=(const StreamGauge&) = delete;

 private:
  World& world_;
};

// Counts a running tool loop while it lives.
class LoopGauge {
 public:
  explicit LoopGauge(World& world);
  ~LoopGauge();
  LoopGauge(const LoopGauge&) = delete;
  LoopGauge& operator=(const LoopGauge&) = delete;

 private:
  World& world_;
};

}  // namespace callgate::server
