// Where the reading half of a turn sends its events: an answer to a client, or a sink of somebody else.
#pragma once

#include <cstdint>

#include "callgate/error.h"
#include "callgate/event.h"
#include "engine/turn_tap.h"

namespace callgate::engine {

class TurnOutlet {
 public:
  virtual ~TurnOutlet() = default;

  virtual TurnTally& tally() = 0;
  // The sink of one choice, alive as long as the outlet. REQUIRES: index < the request's choices.
  virtual EventSink& choice(std::uint32_t index) = 0;
  // The events of one upstream frame, of a cut or of the end come between these two.
  virtual void begin_frame() {}
  virtual void end_frame() {}
  // The turn ended well: every choice has had its TurnFinished, and the tally is complete.
  virtual void end() {}
  // It failed after something of it became visible; what was open has been closed.
  virtual void fail(const Error&) {}
};

}  // namespace callgate::engine
