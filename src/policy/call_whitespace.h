// A policy: white space directly before a call separates it from the text and is not text itself. White space at the
// end of a text is held back until what follows tells.
#pragma once

#include <cstddef>
#include <string>

#include "callgate/event.h"

namespace callgate::policy {

class CallWhitespace final : public Stage {
 public:
  // White space beyond `max_held_back` bytes leaves as text.
  explicit CallWhitespace(std::size_t max_held_back) : max_held_back_(max_held_back) {}

  void push(const Event& event, EventSink& next) override;

 private:
  void text(std::string_view text, EventSink& next);
  void flush(EventSink& next);

  std::size_t max_held_back_;
  std::string held_back_;
};

}  // namespace callgate::policy
