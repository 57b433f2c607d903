#include "loop/client_turn.h"

#include "base/text.h"

namespace callgate::loop {

void ClientTurn::text(std::string_view text) {
  if (text.empty()) return;
  const bool glued = has_text_ && !text_in_round_ && !ends_in_space_ && !is_space(text.front());
  if (glued && !separator_.empty()) sink_->accept(TextDelta{separator_});
  has_text_ = true;
  text_in_round_ = true;
  ends_in_space_ = is_space(text.back());
  sink_->accept(TextDelta{text});
}

void ClientTurn::start_call(std::string_view name, std::string_view id, bool in_text) {
  call_open_ = true;
  sink_->accept(CallStarted{tally_.calls, name, id, in_text});
}

void ClientTurn::call_field(std::string_view name, std::string_view json) {
  sink_->accept(FieldReported{FieldReported::Scope::call, name, json, tally_.calls});
}

void ClientTurn::arguments(std::string_view bytes) {
  sink_->accept(ArgumentsDelta{tally_.calls, bytes});
}

void ClientTurn::finish_call(CallOutcome outcome) {
  sink_->accept(CallFinished{tally_.calls, outcome});
  tally_.add(outcome);
  call_open_ = false;
}

FinishReason ClientTurn::finish(FinishReason reason, const Usage& usage,
                                std::string_view usage_json) {
  if (call_open_) finish_call(CallOutcome::truncated);
  const FinishReason told = settle(reason, tally_);
  if (usage != Usage{}) sink_->accept(UsageReported{usage, usage_json});
  sink_->accept(TurnFinished{told});
  return told;
}

}  // namespace callgate::loop
