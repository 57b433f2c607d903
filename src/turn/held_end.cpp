#include "turn/held_end.h"

#include <variant>

namespace callgate::server {

void HeldEnd::accept(const Event& event) {
  if (const auto* usage = std::get_if<UsageReported>(&event)) {
    usage_ = usage->usage;
    usage_json_ = usage->json;
  } else if (const auto* finished = std::get_if<TurnFinished>(&event)) {
    reason_ = finished->reason;
  } else {
    client_.accept(event);
  }
}

void HeldEnd::notice(const loop::Notice& notice) {
  if (const auto* ended = std::get_if<loop::LoopEnded>(&notice)) {
    ended_ = *ended;
  } else {
    client_.notice(notice);
  }
}

void HeldEnd::tell(bool failed) {
  if (!reason_) return;
  if (failed && ended_) ended_->end = loop::End::error;
  if (ended_) client_.notice(*ended_);
  if (usage_) client_.accept(UsageReported{*usage_, usage_json_});
  client_.accept(TurnFinished{failed ? FinishReason::upstream_error : *reason_});
  reason_.reset();
}

}  // namespace callgate::server
