// A policy: up to a limit the calls of a turn pass, the rest is withheld. Also what parallel_tool_calls: false asks for,
// with a limit of one.
#pragma once

#include <cstdint>

#include "callgate/event.h"
#include "policy/passed_calls.h"

namespace callgate::policy {

class CallLimit final : public Stage {
 public:
  // REQUIRES: max > 0. `withheld` outlives the stage.
  CallLimit(std::uint32_t max, Withheld& withheld) : max_(max), withheld_(withheld) {}

  void push(const Event& event, EventSink& next) override;

 private:
  bool is_reached() const { return passed_.count() == max_; }

  std::uint32_t max_;
  Withheld& withheld_;
  PassedCalls passed_;
};

}  // namespace callgate::policy
