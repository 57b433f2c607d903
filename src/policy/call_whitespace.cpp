#include "policy/call_whitespace.h"

#include <utility>

#include "base/text.h"

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
                 [&](const CallStarted& e) {
                   start_call(e.in_text, next);
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
  if (const char byte = std::exchange(dropped_, '\0'); byte != 0 && !is_space(text.front())) {
    held_back_.push_back(byte);
  }
  std::size_t certain = text.size();
  while (certain > 0 && is_space(text[certain - 1])) --certain;
  if (certain > 0 && held_back_.empty()) {
    next.accept(TextDelta{text.substr(0, certain)});
    after_word_ = true;
  } else if (certain > 0) {
    // One delta, so that a model that ends its pieces with a space does not cost two frames each.
    held_back_.append(text.substr(0, certain));
    flush(next);
  }
  held_back_.append(text.substr(certain));
  if (held_back_.size() > max_held_back_) flush(next);
}

void CallWhitespace::start_call(bool in_text, EventSink& next) {
  if (held_back_.empty()) return;
  const bool stays = !in_text || (after_word_ && rule_ == SpaceBeforeCall::keep_after_text);
  if (stays) return flush(next);
  if (after_word_) dropped_ = held_back_.back();
  held_back_.clear();
}

void CallWhitespace::flush(EventSink& next) {
  if (held_back_.empty()) return;
  after_word_ = !is_space(held_back_.back());
  next.accept(TextDelta{held_back_});
  held_back_.clear();
}

}  // namespace callgate::policy
