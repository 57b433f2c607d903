#include "engine/turn_tap.h"

namespace callgate::engine {

void TurnTap::accept(const Event& event) {
  std::visit(
      Overloaded{
          [&](const TextDelta& e) {
            visible_ = true;
            summary_.text_bytes += e.text.size();
          },
          [&](const ReasoningDelta& e) {
            visible_ = true;
            summary_.reasoning_bytes += e.text.size();
          },
          [&](const RefusalDelta& e) {
            visible_ = true;
            summary_.text_bytes += e.text.size();
          },
          [&](const CallStarted&) {
            visible_ = true;
            ++summary_.calls;
          },
          [&](const ArgumentsDelta& e) { summary_.argument_bytes += e.bytes.size(); },
          [&](const CallFinished& e) { ++summary_.outcomes[static_cast<std::size_t>(e.outcome)]; },
          [&](const FieldReported& e) {
            if (e.scope == FieldReported::Scope::message) visible_ = true;
          },
          [&](const UsageReported& e) { summary_.usage = e.usage; },
          [&](const TurnFinished& e) {
            if (e.reason != FinishReason::upstream_error) visible_ = true;
            if (first_) summary_.reason = e.reason;
          },
      },
      event);
  next_.accept(event);
}

}  // namespace callgate::engine
