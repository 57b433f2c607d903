#include "policy/call_limit.h"

namespace callgate::policy {

void CallLimit::push(const Event& event, EventSink& next) {
  std::visit(Overloaded{
                 [&](const TextDelta&) { next.accept(event); },
                 [&](const ReasoningDelta&) { next.accept(event); },
                 [&](const RefusalDelta&) { next.accept(event); },
                 [&](const CallStarted& e) {
                   if (!is_reached()) return passed_.start(e, next);
                   ++withheld_.calls;
                   withheld_.by = "tool_call_max";
                 },
                 [&](const ArgumentsDelta& e) {
                   if (!is_reached()) return passed_.arguments(e.bytes, next);
                   withheld_.bytes += e.bytes.size();
                 },
                 [&](const CallFinished& e) {
                   if (!is_reached()) passed_.finish(e.outcome, next);
                 },
                 [&](const FieldReported& e) { passed_.field(e, !is_reached(), next); },
                 [&](const UsageReported&) { next.accept(event); },
                 [&](const TurnFinished& e) { passed_.finish_turn(e.reason, next); },
             },
             event);
}

}  // namespace callgate::policy
