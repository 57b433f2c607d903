// Narration: what an upstream that starts its answer over has said already. Codex streams a message as deltas, sends the
// whole message again at its end, and when the connection to the model breaks it says everything once more from the
// start:
//
//   "Let "  "me l"  (the stream broke)  "Let "  "me l"  "ook."  "Let me look."
//
// comes out as "Let me l" "ook." A replay that differs from what was said comes out whole, after a blank line: what a
// client has seen cannot be taken back, and half of each would be neither. A blank line also parts two messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/function_ref.h"

namespace callgate::upstream {

class Narration {
 public:
  using Emit = FunctionRef<void(std::string_view)>;

  void push(std::string_view piece, Emit emit);
  // The message that the last pieces made, once more. What was not said of it is said now, and the message is over.
  void push_whole(std::string_view message, Emit emit);
  void end_message();
  // The answer of the model starts over. False when more was said than is remembered.
  bool restart();
  // The answer of the model is complete: what follows is another.
  void settle();

  // Bytes of the message so far.
  bool in_message() const { return position() > message_start_; }

 private:
  enum class State : std::uint8_t { live, replaying };
  std::size_t position() const { return state_ == State::live ? attempt_.size() : matched_; }
  void say(std::string_view piece, Emit emit);
  void part_ways(std::string_view piece, Emit emit);

  std::string attempt_;            // what was said since the last settle()
  std::size_t matched_ = 0;        // replaying: bytes of it that came again
  std::size_t message_start_ = 0;  // in attempt_
  State state_ = State::live;
  bool said_ = false;       // anything
  bool gap_ = false;        // a blank line goes before what is said next
  bool forgotten_ = false;  // attempt_ is not all of it
};

}  // namespace callgate::upstream
