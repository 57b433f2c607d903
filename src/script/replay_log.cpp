#include "script/replay_log.h"

namespace callgate::script {

void replay_log(const EventLog& log, FunctionRef<void(const Event&)> emit) {
  using Kind = LoggedEvent::Kind;
  for (const LoggedEvent& event : log.events()) {
    switch (event.kind) {
      case Kind::text:
        emit(TextDelta{event.text});
        break;
      case Kind::reasoning:
        emit(ReasoningDelta{event.text});
        break;
      case Kind::refusal:
        emit(RefusalDelta{event.text});
        break;
      case Kind::call:
        emit(CallStarted{event.call, event.text, event.id});
        break;
      case Kind::arguments:
        emit(ArgumentsDelta{event.call, event.text});
        break;
      case Kind::end:
        emit(CallFinished{event.call, event.outcome});
        break;
      case Kind::field:
        emit(FieldReported{event.scope, event.id, event.text, event.call});
        break;
      case Kind::usage:
        emit(UsageReported{event.usage, event.text});
        break;
      case Kind::finish:
        emit(TurnFinished{event.reason});
        break;
    }
  }
}

}  // namespace callgate::script
