// The last thing before a turn's events leave: sees what the client will see, counts it, changes nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/ids.h"
#include "callgate/event.h"
#include "callgate/pipeline.h"
#include "policy/passed_calls.h"

namespace callgate::engine {

// What both halves of a turn, and all its choices, count into and mint from.
struct TurnTally {
  explicit TurnTally(std::uint64_t id_seed) : mint(id_seed) {}

  IdMint mint;
  TurnSummary summary;
  policy::Withheld withheld;
  bool visible = false;  // the client would have seen something of the turn
  TurnObserver* observer = nullptr;
  std::size_t keep_text = 0;  // bytes of the first choice's text that are kept
  std::string text = {};
};

// What the turn said so far: about as many bytes as it takes to keep it.
inline std::uint64_t said_bytes(const TurnSummary& summary) {
  constexpr std::uint64_t kCall = 256;
  return summary.text_bytes + summary.reasoning_bytes + summary.argument_bytes +
         kCall * summary.calls;
}

class TurnTap final : public EventSink {
 public:
  // Choice 0 gives the turn its finish reason. `copy`, which may be null, sees the same as `next`.
  TurnTap(std::uint32_t choice, TurnTally& turn, EventSink& next, EventSink* copy)
      : choice_(choice), turn_(turn), next_(next), copy_(copy) {}

  void accept(const Event& event) override;

 private:
  void keep_text(std::string_view text);
  void call_started(const CallStarted& event);
  void call_finished(const CallFinished& event);
  void know_reason(std::optional<FinishReason> reason);

  std::uint32_t choice_;
  TurnTally& turn_;
  std::uint64_t call_bytes_ = 0;  // of the open call
  EventSink& next_;
  EventSink* copy_;
};

}  // namespace callgate::engine
