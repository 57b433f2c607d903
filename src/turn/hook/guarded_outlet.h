// The outlet of a plain turn whose answer hooks judge: its events pass an AnswerGuard on their way to another outlet.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "engine/turn_outlet.h"
#include "turn/hook/answer_guard.h"

namespace callgate::server {

class GuardedOutlet final : public engine::TurnOutlet, AnswerGuard::Exit {
 public:
  // REQUIRES: the judge outlives it.
  GuardedOutlet(WordJudge& judge, std::shared_ptr<engine::TurnOutlet> to, std::uint32_t choices,
                bool by_sentence)
      : to_(std::move(to)), guard_(judge, *this, choices, by_sentence) {
    sinks_.reserve(choices);
    for (std::uint32_t i = 0; i < choices; ++i) sinks_.emplace_back(guard_, i);
  }
  GuardedOutlet(const GuardedOutlet&) = delete;
  GuardedOutlet& operator=(const GuardedOutlet&) = delete;

  AnswerGuard& guard() { return guard_; }
  // After judge(): the end leaves if it was held, and a turn that was denied ends.
  void settle() {
    if (ended_) return;
    if (guard_.is_denied()) guard_.end_turn(FinishReason::content_filter);
    if (!guard_.is_denied() && !end_waits_) return;
    ended_ = true;
    to_->end();
  }

  engine::TurnTally& tally() override { return to_->tally(); }
  EventSink& choice(std::uint32_t index) override { return sinks_[index]; }
  void begin_frame() override { to_->begin_frame(); }
  void end_frame() override { to_->end_frame(); }
  void end() override {
    end_waits_ = true;
    if (!guard_.has_question()) settle();
  }
  // What was not judged does not leave.
  void fail(const Error& error) override {
    if (ended_) return;
    guard_.end_turn(FinishReason::upstream_error);
    to_->fail(error);
  }

 private:
  class Sink final : public EventSink {
   public:
    Sink(AnswerGuard& guard, std::uint32_t choice) : guard_(guard), choice_(choice) {}
    void accept(const Event& event) override { guard_.take(choice_, event); }

   private:
    AnswerGuard& guard_;
    std::uint32_t choice_;
  };

  void pass(std::uint32_t choice, const Event& event) override {
    to_->choice(choice).accept(event);
  }
  void pass(const loop::Notice&) override {}  // a plain turn has none

  std::shared_ptr<engine::TurnOutlet> to_;
  AnswerGuard guard_;
  std::vector<Sink> sinks_;
  bool end_waits_ = false;
  bool ended_ = false;
};

}  // namespace callgate::server
