#include "engine/call_hold.h"

#include <utility>

#include "engine/turn_keeper.h"

namespace callgate::engine {

CallHold::CallHold(TurnOutlet& to, std::uint32_t choices, NoCall rule) : to_(to), rule_(rule) {
  choices_.reserve(choices);
  for (std::uint32_t i = 0; i < choices; ++i) choices_.emplace_back(*this, to.choice(i));
}

void CallHold::begin_frame() {
  in_new_frame_ = true;
  if (!holding_) to_.begin_frame();
}

void CallHold::end_frame() {
  if (!holding_) to_.end_frame();
}

void CallHold::end() {
  missed_ = holding_;
  if (!holding_) to_.end();
}

void CallHold::fail(const Error& error) {
  if (!holding_) to_.fail(error);
}

void CallHold::take(Choice& choice, const Event& event) {
  if (holding_ && std::holds_alternative<CallStarted>(event)) {
    has_call_ = true;
    release();
    if (in_new_frame_) to_.begin_frame();
  }
  if (!holding_) return choice.next().accept(event);
  keep(choice, event);
  finished_ += std::holds_alternative<TurnFinished>(event) ? 1 : 0;
  if (rule_ == NoCall::let_go && finished_ == choices_.size()) release();
}

void CallHold::keep(Choice& choice, const Event& event) {
  if (pieces_.empty() || pieces_.back().choice != &choice || in_new_frame_) {
    pieces_.push_back({.choice = &choice, .begins_frame = in_new_frame_, .events = {}});
    in_new_frame_ = false;
    held_ += sizeof(Piece);
  }
  held_ += bytes_of(event);
  pieces_.back().events.accept(event);
}

void CallHold::release() {
  holding_ = false;
  held_ = 0;
  for (const Piece& piece : std::exchange(pieces_, {})) {
    if (piece.begins_frame) to_.begin_frame();
    for (const LoggedEvent& event : piece.events.events()) tell(event, piece.choice->next());
  }
}

}  // namespace callgate::engine
