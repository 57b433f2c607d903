#include "upstream/turn_end.h"

namespace callgate::upstream {

TurnEnd end_of_turn(const TurnWord& word, Ending ending, bool answered, const CallTally& calls) {
  if (calls.unnamed) {
    return {.reason = FinishReason::upstream_error,
            .error = Error{.code = ErrorCode::upstream_failed,
                           .message = "upstream made a call without a name"}};
  }
  if (word.known) {
    TurnEnd end{.reason = settle(*word.known, calls)};
    if (end.reason != *word.known) end.repair = Repair::finish_reason_wrong;
    return end;
  }
  if (!word.seen) {
    if (ending == Ending::failure) return {.reason = FinishReason::upstream_error};
    if (ending == Ending::end && !answered && calls.calls == 0) {
      return {.reason = FinishReason::upstream_error,
              .error = Error{.code = ErrorCode::upstream_failed,
                             .message = "upstream ended its answer without saying anything"}};
    }
    const bool complete = calls.calls > 0 && calls.last == CallOutcome::complete;
    if (ending == Ending::closed && !complete) {
      return {.reason = FinishReason::upstream_error,
              .error = Error{.code = ErrorCode::upstream_failed,
                             .message = answered ? "upstream closed before the turn was finished"
                                                 : "upstream closed without an answer"}};
    }
  }
  return {.reason = settle(FinishReason::stop, calls), .repair = Repair::finish_reason_missing};
}

}  // namespace callgate::upstream
