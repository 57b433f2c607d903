#include "policy/error_after_tools.h"

namespace callgate::policy {

void ErrorAfterToolCalls::push(const Event& event, EventSink& next) {
  if (const auto* finished = std::get_if<CallFinished>(&event)) {
    has_calls_ = true;
    all_complete_ = all_complete_ && finished->outcome == CallOutcome::complete;
  }
  const auto* turn = std::get_if<TurnFinished>(&event);
  if (turn != nullptr && turn->reason == FinishReason::upstream_error && has_calls_ &&
      all_complete_) {
    return next.accept(TurnFinished{FinishReason::tool_calls});
  }
  next.accept(event);
}

}  // namespace callgate::policy
