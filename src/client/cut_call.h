// A call that was cut short, in protocols where a client may begin with a call once it is over: what follows says whether it is.
#pragma once

#include <cstdint>
#include <variant>

#include "callgate/event.h"

namespace callgate::client {

class CutCall {
 public:
  enum class Fate : std::uint8_t {
    open,   // nothing is cut, or it is not decided yet
    ended,  // the turn went on or ended: the call ends before this event, as it is
    lost,   // the turn failed: the call never ends
  };

  void hold() { held_ = true; }

  // Asked before each event. Fields and usage decide nothing.
  Fate before(const Event& event) {
    if (!held_) return Fate::open;
    if (std::holds_alternative<FieldReported>(event) ||
        std::holds_alternative<UsageReported>(event)) {
      return Fate::open;
    }
    held_ = false;
    const auto* end = std::get_if<TurnFinished>(&event);
    const bool failed = end != nullptr && end->reason == FinishReason::upstream_error;
    return failed ? Fate::lost : Fate::ended;
  }

 private:
  bool held_ = false;
};

}  // namespace callgate::client
