#include "policy/suppress_tail.h"

namespace callgate::policy {
namespace {

constexpr std::string_view kName = "suppress_tail_after_tools";

}  // namespace

void SuppressTail::push(const Event& event, EventSink& next) {
  std::visit(Overloaded{
                 [&](const TextDelta& e) { prose(Kind::text, e.text, event, next); },
                 [&](const ReasoningDelta& e) { prose(Kind::reasoning, e.text, event, next); },
                 [&](const RefusalDelta& e) { prose(Kind::refusal, e.text, event, next); },
                 [&](const CallStarted&) {
                   release(true, next);
                   next.accept(event);
                 },
                 [&](const ArgumentsDelta&) { next.accept(event); },
                 [&](const CallFinished&) {
                   after_call_ = true;
                   next.accept(event);
                 },
                 [&](const FieldReported&) { next.accept(event); },
                 [&](const UsageReported&) { next.accept(event); },
                 [&](const TurnFinished&) {
                   release(false, next);
                   next.accept(event);
                 },
             },
             event);
}

void SuppressTail::prose(Kind kind, std::string_view text, const Event& event, EventSink& next) {
  const bool waits = after_call_ && (kind == Kind::text || !held_back_.empty());
  if (!waits) return next.accept(event);
  if (held_back_bytes_ + text.size() > max_held_back_) {
    if (kind == Kind::text) {
      withheld_.bytes += text.size();
      withheld_.by = kName;
      return;
    }
    release(false, next);
    return next.accept(event);
  }
  if (held_back_.empty() || held_back_.back().kind != kind) held_back_.push_back({kind, {}});
  held_back_.back().text.append(text);
  held_back_bytes_ += text.size();
}

void SuppressTail::release(bool with_text, EventSink& next) {
  for (const Piece& piece : held_back_) {
    switch (piece.kind) {
      case Kind::text:
        if (with_text) {
          next.accept(TextDelta{piece.text});
        } else {
          withheld_.bytes += piece.text.size();
          withheld_.by = kName;
        }
        break;
      case Kind::reasoning:
        next.accept(ReasoningDelta{piece.text});
        break;
      case Kind::refusal:
        next.accept(RefusalDelta{piece.text});
        break;
    }
  }
  held_back_.clear();
  held_back_bytes_ = 0;
}

}  // namespace callgate::policy
