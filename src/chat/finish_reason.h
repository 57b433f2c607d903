// Why a turn ended, once the calls that were seen are weighed against what the upstream said.
//
//   the upstream said | no calls       | last call complete | malformed      | truncated
//   stop              | stop           | tool_calls         | tool_calls     | length
//   tool_calls        | stop           | tool_calls         | tool_calls     | length
//   length            | length         | tool_calls         | length         | length
//   content_filter    | content_filter | content_filter     | content_filter | content_filter
//   upstream_error    | upstream_error | upstream_error     | upstream_error | upstream_error
//
// `length` with a complete call becomes tool_calls because clients refuse to run tools after `length`. A truncated call
// must not be run, whatever the upstream said.
#pragma once

#include <cstdint>

#include "callgate/event.h"

namespace callgate {

struct CallTally {
  std::uint32_t calls = 0;
  CallOutcome last = CallOutcome::complete;
  bool unnamed = false;  // something was said about a call that never got its name

  void add(CallOutcome outcome) {
    ++calls;
    last = outcome;
  }
};

// The upstream ended the turn itself: nothing was cut off.
bool ends_normally(FinishReason said);

FinishReason settle(FinishReason said, const CallTally& tally);

}  // namespace callgate
