// The event grammar, executable. On in tests, fuzzers and debug builds after every stage.
#pragma once

#include <string>
#include <string_view>

#include "callgate/event.h"

namespace callgate {

class EventGrammar {
 public:
  // Empty while the grammar holds; else a sentence that says which rule broke first.
  std::string_view check(const Event& event);
  // The rules of a whole turn: call is closed, TurnFinished came.
  std::string_view check_end();
  // For dialect parsers, which emit no TurnFinished: only that no call is open.
  std::string_view check_calls_closed();

 private:
  bool call_open_ = false;
  bool finished_ = false;
  CallIndex next_call_ = 0;
};

// Checks, aborts with a message on a breach, and passes on.
class CheckedSink final : public EventSink {
 public:
  explicit CheckedSink(EventSink& next) : next_(next) {}
  void accept(const Event& event) override;

 private:
  EventSink& next_;
  EventGrammar grammar_;
};

}  // namespace callgate
