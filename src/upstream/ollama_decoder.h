// Answers of /api/chat -> events. Calls come whole, one or several to a line, with ids (since 0.12.10) or without: those
// are left empty. The line that is done ends the turn; what follows it is ignored. `stop` is said for turns with calls, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "upstream/call_tracker.h"
#include "upstream/ollama_line.h"
#include "upstream/turn_end.h"
#include "upstream/wire_format.h"

namespace callgate::upstream {

class OllamaDecoder final : public ResponseDecoder {
 public:
  void push(const SseFrame& frame, ChoiceSinks& sinks) override;
  void push_body(std::string_view body, ChoiceSinks& sinks) override;
  void finish(ChoiceSinks& sinks) override { end(Ending::closed, sinks.choice(0)); }
  void abort(ChoiceSinks& sinks) override { end(Ending::failure, sinks.choice(0)); }

  bool finished() const override { return finished_; }
  bool complete() const override { return done_ && !error_; }
  const std::optional<Error>& error() const override { return error_; }
  const RepairCounts& repairs() const override { return repairs_; }
  std::string dropped() const override { return reader_.dropped().print(); }

 private:
  void apply(const OllamaLine& line, EventSink& sink);
  void apply_usage(const OllamaLine& line, EventSink& sink);
  void end(Ending ending, EventSink& sink);
  FinishReason reason_of(Ending ending);
  void fail_with(Error error);
  void count(Repair repair, std::size_t times = 1) {
    repairs_[static_cast<std::size_t>(repair)] += static_cast<std::uint32_t>(times);
  }

  OllamaLineReader reader_;
  CallTracker tracker_;
  std::optional<FinishReason> said_;  // known words only
  bool done_ = false;
  bool seen_ = false;
  std::optional<Error> error_;
  RepairCounts repairs_{};
  bool finished_ = false;
  bool ended_ = false;
};

}  // namespace callgate::upstream
