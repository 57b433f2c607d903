#include "policy/undeclared_tools.h"

#include "json/writer.h"

namespace callgate::policy {

void UndeclaredToolCalls::push(const Event& event, EventSink& next) {
  std::visit(Overloaded{
                 [&](const TextDelta&) { next.accept(event); },
                 [&](const ReasoningDelta&) { next.accept(event); },
                 [&](const RefusalDelta&) { next.accept(event); },
                 [&](const CallStarted& e) { start(e, next); },
                 [&](const ArgumentsDelta& e) { arguments(e, next); },
                 [&](const CallFinished& e) { finish(e, next); },
                 [&](const FieldReported& e) { passed_.field(e, state_ == State::declared, next); },
                 [&](const UsageReported&) { next.accept(event); },
                 [&](const TurnFinished& e) { passed_.finish_turn(e.reason, next); },
             },
             event);
}

void UndeclaredToolCalls::start(const CallStarted& event, EventSink& next) {
  if (tools_.find(event.name) != nullptr) {
    state_ = State::declared;
    return passed_.start(event, next);
  }
  if (as_text_) {
    state_ = State::text_before_arguments;
    text_ = "{\"name\":";
    json::append_string(text_, event.name);
    text_ += ",\"arguments\":";
  } else {
    state_ = State::withheld;
    ++withheld_.calls;
    withheld_.by = "undeclared_tools";
    text_ = "[The model called ";
    json::append_string(text_, event.name);
    text_ += ", which is not a declared tool. The call was dropped.]";
  }
  next.accept(TextDelta{text_});
}

void UndeclaredToolCalls::arguments(const ArgumentsDelta& event, EventSink& next) {
  switch (state_) {
    case State::declared:
      return passed_.arguments(event.bytes, next);
    case State::text_before_arguments:
    case State::text_in_arguments:
      state_ = State::text_in_arguments;
      return next.accept(TextDelta{event.bytes});
    case State::withheld:
      withheld_.bytes += event.bytes.size();
      return;
  }
}

void UndeclaredToolCalls::finish(const CallFinished& event, EventSink& next) {
  switch (state_) {
    case State::declared:
      return passed_.finish(event.outcome, next);
    case State::text_before_arguments:
      return next.accept(TextDelta{"{}}"});
    case State::text_in_arguments:
      return next.accept(TextDelta{"}"});
    case State::withheld:
      return;
  }
}

}  // namespace callgate::policy
