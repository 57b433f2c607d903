// Chat Completions answers -> events. Knows what the fields of an Answer mean; the order of calls is CallTracker's.
//
// Usage may come after the finish reason, and nothing may follow TurnFinished: so each choice's TurnFinished leaves
// when the answer ends, with [DONE] or with the connection. What a choice says after its finish reason is ignored.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "upstream/call_tracker.h"
#include "upstream/openai_answer.h"
#include "upstream/openai_others.h"
#include "upstream/turn_end.h"
#include "upstream/wire_format.h"

namespace callgate::upstream {

class OpenaiChatDecoder final : public ResponseDecoder {
 public:
  void push(const SseFrame& frame, ChoiceSinks& sinks) override;
  void push_body(std::string_view body, ChoiceSinks& sinks) override;
  void finish(ChoiceSinks& sinks) override;
  void abort(ChoiceSinks& sinks) override;

  bool finished() const override { return finished_; }
  bool complete() const override;
  const std::optional<Error>& error() const override { return error_; }
  const RepairCounts& repairs() const override { return repairs_; }

 private:
  struct Choice {
    CallTracker tracker;
    bool seen = false;
    bool finish_seen = false;
    std::optional<FinishReason> said;  // known words only
    bool streamed = false;             // it sent `delta`: a later `message` only repeats it
  };

  void apply(const Answer& answer, ChoiceSinks& sinks, bool whole);
  void apply_turn_fields(const Answer& answer, EventSink& sink);
  void apply_choice(const ChoicePiece& piece, Choice& choice, EventSink& sink, bool whole);
  std::optional<std::uint32_t> position_of(std::int64_t index, std::uint32_t count);
  void end(Ending ending, ChoiceSinks& sinks);
  FinishReason reason_of(const Choice& choice, Ending ending);
  void fail_with(Error error);
  void count(Repair repair, std::size_t times = 1) {
    repairs_[static_cast<std::size_t>(repair)] += static_cast<std::uint32_t>(times);
  }

  AnswerReader reader_;
  std::vector<Choice> choices_;
  std::optional<std::int64_t> only_choice_;  // the index that the only choice asked for goes by
  std::optional<Usage> usage_;
  std::string usage_json_;
  TurnMembers turn_members_;
  std::string service_tier_;
  std::string system_fingerprint_;
  std::optional<Error> error_;
  RepairCounts repairs_{};
  bool finished_ = false;
  bool ended_ = false;
};

}  // namespace callgate::upstream
