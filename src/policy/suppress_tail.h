// A policy: text after the last call of a turn is withheld, text between calls passes. So text after a call is held
// back until another call starts or the turn ends. Reasoning and refusals pass, after held back text in their order.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "callgate/event.h"
#include "policy/passed_calls.h"

namespace callgate::policy {

class SuppressTail final : public Stage {
 public:
  // Text after a call beyond `max_held_back` bytes is taken for the tail and withheld at once. `withheld` outlives the
  // stage.
  SuppressTail(std::size_t max_held_back, Withheld& withheld)
      : max_held_back_(max_held_back), withheld_(withheld) {}

  void push(const Event& event, EventSink& next) override;

 private:
  enum class Kind : std::uint8_t { text, reasoning, refusal };
  struct Piece {
    Kind kind;
    std::string text;
  };

  void prose(Kind kind, std::string_view text, const Event& event, EventSink& next);
  void release(bool with_text, EventSink& next);

  std::size_t max_held_back_;
  Withheld& withheld_;
  bool after_call_ = false;
  std::vector<Piece> held_back_;
  std::size_t held_back_bytes_ = 0;
};

}  // namespace callgate::policy
