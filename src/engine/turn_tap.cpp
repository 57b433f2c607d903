#include "engine/turn_tap.h"

namespace callgate::engine {

void TurnTap::accept(const Event& event) {
  TurnSummary& summary = turn_.summary;
  const auto see = [&](std::uint64_t& bytes, std::string_view text) {
    turn_.visible = true;
    ++summary.deltas;
    bytes += text.size();
    know_reason(std::nullopt);
  };
  std::visit(Overloaded{
                 [&](const TextDelta& e) {
                   see(summary.text_bytes, e.text);
                   keep_text(e.text);
                 },
                 [&](const ReasoningDelta& e) { see(summary.reasoning_bytes, e.text); },
                 [&](const RefusalDelta& e) { see(summary.text_bytes, e.text); },
                 [&](const CallStarted& e) { call_started(e); },
                 [&](const ArgumentsDelta& e) {
                   call_bytes_ += e.bytes.size();
                   see(summary.argument_bytes, e.bytes);
                 },
                 [&](const CallFinished& e) { call_finished(e); },
                 [&](const FieldReported& e) {
                   if (e.scope == FieldReported::Scope::message) turn_.visible = true;
                 },
                 [&](const UsageReported& e) { summary.usage = e.usage; },
                 [&](const TurnFinished& e) {
                   if (e.reason != FinishReason::upstream_error) turn_.visible = true;
                   if (choice_ == 0) summary.reason = e.reason;
                   const bool failed = e.reason == FinishReason::upstream_error;
                   know_reason(failed ? std::nullopt : std::optional(e.reason));
                 },
             },
             event);
  if (copy_ != nullptr) copy_->accept(event);
  next_.accept(event);
}

void TurnTap::keep_text(std::string_view text) {
  if (choice_ != 0 || turn_.text.size() >= turn_.keep_text) return;
  turn_.text.append(text.substr(0, turn_.keep_text - turn_.text.size()));
}

void TurnTap::know_reason(std::optional<FinishReason> reason) {
  if (choice_ == 0) turn_.summary.known_reason = reason;
}

void TurnTap::call_started(const CallStarted& event) {
  turn_.visible = true;
  call_bytes_ = 0;
  know_reason(std::nullopt);
  ++turn_.summary.calls;
  const std::uint64_t position = turn_.summary.deltas++;
  if (turn_.observer == nullptr) return;
  turn_.observer->call_started({.choice = choice_,
                                .call = event.call,
                                .name = event.name,
                                .id = event.native_id,
                                .position = position,
                                .in_text = turn_.summary.text_calls > 0});
}

void TurnTap::call_finished(const CallFinished& event) {
  ++turn_.summary.outcomes[static_cast<std::size_t>(event.outcome)];
  if (event.outcome == CallOutcome::complete) know_reason(FinishReason::tool_calls);
  if (turn_.observer == nullptr) return;
  turn_.observer->call_finished({.choice = choice_,
                                 .call = event.call,
                                 .outcome = event.outcome,
                                 .bytes = call_bytes_,
                                 .position = turn_.summary.deltas,
                                 .usage_emitted = turn_.summary.usage.has_value(),
                                 .in_text = turn_.summary.text_calls > 0});
}

}  // namespace callgate::engine
