// A policy: white space directly before a call that the model wrote as text separates the call from the text and is not
// text itself. White space at the end of a text is held back until what follows decides. Where text goes on after the
// call without white space of its own, one byte of it stays: words are never joined. Structured calls are not part of
// the text, so white space before them is the model's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "callgate/event.h"

namespace callgate::policy {

// What happens to white space between text and a call.
enum class SpaceBeforeCall : std::uint8_t {
  drop,
  // Only white space that no text of the turn precedes is dropped: the rounds of a tool loop are one text.
  keep_after_text,
};

class CallWhitespace final : public Stage {
 public:
  // White space beyond `max_held_back` bytes leaves as text.
  explicit CallWhitespace(std::size_t max_held_back, SpaceBeforeCall rule = SpaceBeforeCall::drop)
      : max_held_back_(max_held_back), rule_(rule) {}

  void push(const Event& event, EventSink& next) override;

 private:
  void text(std::string_view text, EventSink& next);
  void start_call(bool in_text, EventSink& next);
  void flush(EventSink& next);

  std::size_t max_held_back_;
  SpaceBeforeCall rule_;
  std::string held_back_;
  bool after_word_ = false;  // what has left ends with a byte that is not white space
  char dropped_ = 0;         // the last byte of what was dropped after a word; 0: none was
};

}  // namespace callgate::policy
