#include "policy/split_sentences.h"

namespace callgate::policy {

void SplitSentences::push(const Event& event, EventSink& next) {
  if (const auto* text = std::get_if<TextDelta>(&event)) {
    return splitter_.push(text->text,
                          [&](std::string_view sentence) { next.accept(TextDelta{sentence}); });
  }
  // Usage and fields have no place in the order of the turn's words.
  const bool aside =
      std::holds_alternative<UsageReported>(event) || std::holds_alternative<FieldReported>(event);
  if (!aside) release(next);
  next.accept(event);
}

void SplitSentences::release(EventSink& next) {
  splitter_.flush([&](std::string_view sentence) { next.accept(TextDelta{sentence}); });
}

}  // namespace callgate::policy
