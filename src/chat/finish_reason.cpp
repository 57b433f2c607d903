#include "chat/finish_reason.h"

namespace callgate {

bool ends_normally(FinishReason said) {
  return said == FinishReason::stop || said == FinishReason::tool_calls;
}

FinishReason settle(FinishReason said, const CallTally& tally) {
  switch (said) {
    case FinishReason::stop:
    case FinishReason::tool_calls:
      if (tally.calls > 0 && tally.last == CallOutcome::truncated) return FinishReason::length;
      return tally.calls > 0 ? FinishReason::tool_calls : FinishReason::stop;
    case FinishReason::length:
      return tally.calls > 0 && tally.last == CallOutcome::complete ? FinishReason::tool_calls
                                                                    : FinishReason::length;
    case FinishReason::content_filter:
    case FinishReason::upstream_error:
      return said;
  }
  return said;
}

}  // namespace callgate
