// Holds a turn back until it makes a call: a turn that must make one can then be thrown away and asked for again.
#pragma once

#include <cstdint>
#include <vector>

#include "chat/event_log.h"
#include "engine/turn_outlet.h"

namespace callgate::engine {

class CallHold final : public TurnOutlet {
 public:
  // What becomes of a turn that ends without a call.
  enum class NoCall : std::uint8_t {
    keep_back,  // nothing of it leaves
    let_go,     // it leaves as it is
  };
  // REQUIRES: `to` outlives the hold.
  CallHold(TurnOutlet& to, std::uint32_t choices, NoCall rule);

  TurnTally& tally() override { return to_.tally(); }
  EventSink& choice(std::uint32_t index) override { return choices_[index]; }
  void begin_frame() override;
  void end_frame() override;
  void end() override;
  void fail(const Error& error) override;

  std::size_t held() const { return held_; }
  // Nothing has left.
  bool is_holding() const { return holding_; }
  // The turn makes a call.
  bool has_call() const { return has_call_; }
  // It ended well, without a call, and nothing of it has left.
  bool missed() const { return missed_; }

 private:
  class Choice final : public EventSink {
   public:
    Choice(CallHold& hold, EventSink& next) : hold_(hold), next_(next) {}
    void accept(const Event& event) override { hold_.take(*this, event); }
    EventSink& next() { return next_; }

   private:
    CallHold& hold_;
    EventSink& next_;
  };
  // The events of a choice within one frame: what an encoder writes depends on where frames begin.
  struct Piece {
    Choice* choice = nullptr;
    bool begins_frame = false;
    EventLog events;
  };

  void take(Choice& choice, const Event& event);
  void keep(Choice& choice, const Event& event);
  void release();

  TurnOutlet& to_;
  const NoCall rule_;
  std::vector<Choice> choices_;
  std::vector<Piece> pieces_;
  std::uint32_t finished_ = 0;  // choices
  std::size_t held_ = 0;        // bytes, about
  bool in_new_frame_ = true;
  bool holding_ = true;
  bool has_call_ = false;
  bool missed_ = false;
};

}  // namespace callgate::engine
