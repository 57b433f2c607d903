#include "policy/reasoning_form.h"

#include <utility>

namespace callgate::policy {

void ReasoningInText::push(const Event& event, EventSink& next) {
  const auto pass_after_reasoning = [&] {
    close(next);
    next.accept(event);
  };
  std::visit(Overloaded{
                 [&](const TextDelta&) { pass_after_reasoning(); },
                 [&](const ReasoningDelta& e) {
                   if (!std::exchange(open_, true)) next.accept(TextDelta{"<think>"});
                   next.accept(TextDelta{e.text});
                 },
                 [&](const RefusalDelta&) { pass_after_reasoning(); },
                 [&](const CallStarted&) { pass_after_reasoning(); },
                 [&](const ArgumentsDelta&) { next.accept(event); },
                 [&](const CallFinished&) { next.accept(event); },
                 [&](const FieldReported&) { next.accept(event); },
                 [&](const UsageReported&) { next.accept(event); },
                 [&](const TurnFinished&) { pass_after_reasoning(); },
             },
             event);
}

void ReasoningInText::close(EventSink& next) {
  if (std::exchange(open_, false)) next.accept(TextDelta{"</think>"});
}

void HideReasoning::push(const Event& event, EventSink& next) {
  if (const auto* reasoning = std::get_if<ReasoningDelta>(&event)) {
    withheld_.bytes += reasoning->text.size();
  } else if (const auto* field = std::get_if<FieldReported>(&event);
             field != nullptr && field->name == "reasoning_details") {
    withheld_.bytes += field->json.size();
  } else {
    next.accept(event);
  }
}

}  // namespace callgate::policy
