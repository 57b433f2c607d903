#include "policy/call_whitespace.h"

namespace callgate::policy {

void CallWhitespace::push(const Event& event, EventSink& next) {
  const auto pass_after_text = [&] {
    flush(next);
    next.accept(event);
  };
  std::visit(Overloaded{
                 [&](const TextDelta& e) { text(e.text, next); },
                 [&](const ReasoningDelta&) { pass_after_text(); },
                 [&](const RefusalDelta&) { pass_after_text(); },
                 [&](const CallStarted&) {
                   held_back_.clear();
                   next.accept(event);
                 },
                 [&](const ArgumentsDelta&) { next.accept(event); },
                 [&](const CallFinished&) { next.accept(event); },
                 [&](const FieldReported&) { next.accept(event); },
                 [&](const UsageReported&) { next.accept(event); },
                 [&](const TurnFinished&) { pass_after_text(); },
             },
             event);
}

void CallWhitespace::text(std::string_view text, EventSink& next) {
  const std::size_t last = text.find_last_not_of(" \t\r\n");
  const std::size_t certain = last == std::string_view::npos ? 0 : last + 1;
  if (certain > 0 && held_back_.empty()) {
    next.accept(TextDelta{text.substr(0, certain)});
  } else if (certain > 0) {
    // One delta, so that a model that ends its pieces with a space does not cost two frames each.
    held_back_.append(text.substr(0, certain));
    flush(next);
  }
  held_back_.append(text.substr(certain));
  if (held_back_.size() > max_held_back_) flush(next);
}

void CallWhitespace::flush(EventSink& next) {
  if (held_back_.empty()) return;
  next.accept(TextDelta{held_back_});
  held_back_.clear();
}

}  // namespace callgate::policy
