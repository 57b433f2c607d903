// Why a turn ended, from the word that the upstream said for it and from how its answer stopped.
//
//   the word      | the answer stopped | no calls       | last call complete | last call cut
//   known         | in any way         | settle(), chat/finish_reason.h
//   unknown       | in any way         | stop           | tool_calls         | length
//   none or empty | at its end         | stop           | tool_calls         | length
//   none or empty | closed             | upstream_error | tool_calls         | upstream_error
//   none or empty | with a failure     | upstream_error
//
// A call that never got a name makes it upstream_error in any case; so does an end without a word and without an answer.
#pragma once

#include <cstdint>
#include <optional>

#include "callgate/error.h"
#include "callgate/event.h"
#include "callgate/pipeline.h"
#include "chat/finish_reason.h"

namespace callgate::upstream {

// An end is its marker, or the end of a whole body.
enum class Ending : std::uint8_t { end, closed, failure };

struct TurnWord {
  bool seen = false;
  std::optional<FinishReason> known;
};

struct TurnEnd {
  FinishReason reason = FinishReason::stop;
  std::optional<Repair> repair;
  std::optional<Error> error;  // closed too early, a call without a name, or nothing was said
};

// `answered`: some part of an answer came.
TurnEnd end_of_turn(const TurnWord& word, Ending ending, bool answered, const CallTally& calls);

}  // namespace callgate::upstream
