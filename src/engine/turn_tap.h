// The last thing before the encoder: sees what the client will see, counts it, changes nothing.
#pragma once

#include "callgate/event.h"
#include "callgate/pipeline.h"

namespace callgate::engine {

class TurnTap final : public EventSink {
 public:
  // `first`: this choice gives the turn its finish reason. `visible` is set by the first event that a client sees.
  TurnTap(bool first, TurnSummary& summary, bool& visible, EventSink& next)
      : first_(first), summary_(summary), visible_(visible), next_(next) {}

  void accept(const Event& event) override;

 private:
  bool first_;
  TurnSummary& summary_;
  bool& visible_;
  EventSink& next_;
};

}  // namespace callgate::engine
