// A policy: where the client finds the model's reasoning when it is not to have a field of its own: in the text, as
// <think>...</think>, or nowhere.
#pragma once

#include "callgate/event.h"
#include "callgate/policy.h"
#include "policy/passed_calls.h"

namespace callgate::policy {

class ReasoningInText final : public Stage {
 public:
  void push(const Event& event, EventSink& next) override;

 private:
  void close(EventSink& next);

  bool open_ = false;
};

class HideReasoning final : public Stage {
 public:
  // `withheld` outlives the stage.
  explicit HideReasoning(Withheld& withheld) : withheld_(withheld) {}

  void push(const Event& event, EventSink& next) override;

 private:
  Withheld& withheld_;
};

}  // namespace callgate::policy
