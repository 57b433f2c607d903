#include "policy/coalesce_reasoning.h"

namespace callgate::policy {

void CoalesceReasoning::push(const Event& event, EventSink& next) {
  const auto* reasoning = std::get_if<ReasoningDelta>(&event);
  if (reasoning == nullptr) {
    // Usage and fields have no place in the order of the turn's words.
    const bool aside = std::holds_alternative<UsageReported>(event) ||
                       std::holds_alternative<FieldReported>(event);
    if (!aside) release(next);
    return next.accept(event);
  }
  if (held_.empty() && reasoning->text.size() >= bytes_) return next.accept(event);
  held_.append(reasoning->text);
  if (held_.size() >= bytes_) release(next);
}

void CoalesceReasoning::release(EventSink& next) {
  if (held_.empty()) return;
  next.accept(ReasoningDelta{held_});
  held_.clear();
  ++released_;
}

std::optional<std::uint32_t> CoalesceReasoning::held_back() const {
  if (held_.empty()) return std::nullopt;
  return released_;
}

}  // namespace callgate::policy
