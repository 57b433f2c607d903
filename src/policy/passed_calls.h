// What every policy that withholds calls needs: the calls that pass are numbered without gaps, and the turn ends for
// the reason that fits them.
#pragma once

#include <cstdint>
#include <string_view>

#include "callgate/event.h"
#include "chat/finish_reason.h"

namespace callgate::policy {

// What did not reach the client, over all choices and policies.
struct Withheld {
  std::uint32_t calls = 0;
  std::uint64_t bytes = 0;  // of text, reasoning and arguments
  std::string_view by;      // the policy that withheld a call or the tail last, as configured
};

class PassedCalls {
 public:
  void start(const CallStarted& event, EventSink& next) {
    next.accept(CallStarted{call_, event.name, event.native_id, event.in_text});
  }
  // Nothing for an empty text.
  void arguments(std::string_view bytes, EventSink& next) {
    if (!bytes.empty()) next.accept(ArgumentsDelta{call_, bytes});
  }
  void finish(CallOutcome outcome, EventSink& next) {
    tally_.add(outcome);
    next.accept(CallFinished{call_++, outcome});
  }
  // A field of the open call passes if `call_passes`; any other one does.
  void field(const FieldReported& event, bool call_passes, EventSink& next) {
    if (event.scope != FieldReported::Scope::call) return next.accept(event);
    if (call_passes) next.accept(FieldReported{event.scope, event.name, event.json, call_});
  }
  void finish_turn(FinishReason said, EventSink& next) {
    next.accept(TurnFinished{settle(said, tally_)});
  }
  std::uint32_t count() const { return tally_.calls; }

 private:
  CallIndex call_ = 0;
  CallTally tally_;
};

}  // namespace callgate::policy
