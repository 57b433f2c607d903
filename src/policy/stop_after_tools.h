// A policy: the turn is cut once the model has made its calls. The turn ends in order; whatever the upstream says
// later is dropped, so that its request can be aborted.
//   first   at the first finished call
//   burst   when cut() is called: the owner of the clock does so when no call was finished for a while
// A call counts as finished when its arguments are a whole JSON object or array, even before CallFinished: some
// upstreams say that a call is over only with what follows it, and a silent one never would.
// A call that the end of the turn truncated cuts nothing: the upstream says why it ended.
#pragma once

#include <cstdint>
#include <optional>

#include "callgate/event.h"
#include "callgate/policy.h"
#include "json/scanner.h"
#include "policy/passed_calls.h"

namespace callgate::policy {

class StopAfterToolCalls final : public Stage {
 public:
  // REQUIRES: mode is not `off`. `at_once`: the turn ends at the cut. Else it ends with the upstream's own end, for
  // answers that come whole, where there is nothing to abort and the usage comes last. `withheld` outlives the stage.
  StopAfterToolCalls(StopAfterTools mode, bool at_once, Withheld& withheld)
      : mode_(mode), at_once_(at_once), withheld_(withheld) {}

  void push(const Event& event, EventSink& next) override;

  // How many calls were finished, while the grace period after the last of them runs.
  std::optional<std::uint32_t> grace() const;
  // Ends the turn now. REQUIRES: grace() has a value.
  void cut(EventSink& next);
  // The turn was cut; nothing leaves any more, if at_once.
  bool is_cut() const { return state_ == State::cut; }

 private:
  enum class State : std::uint8_t { before_calls, in_call, after_call, cut, over };

  void arguments(const ArgumentsDelta& event, EventSink& next);
  void finish_call(const CallFinished& event, EventSink& next);
  bool is_value_closed() const { return scanner_.state() == json::Scanner::State::closed; }
  void drop(const Event& event, EventSink& next);

  StopAfterTools mode_;
  bool at_once_;
  Withheld& withheld_;
  State state_ = State::before_calls;
  std::uint32_t calls_ = 0;  // finished ones; also the index of the open one
  json::Scanner scanner_;    // of the open call
};

}  // namespace callgate::policy
