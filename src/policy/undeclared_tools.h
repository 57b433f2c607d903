// A policy: a call of a tool that the request does not declare does not reach the client as a call. It leaves as text,
//   {"name":"x","arguments":{...}}
// or is withheld, and a sentence in the text says which tool it was.
#pragma once

#include <span>
#include <string>

#include "callgate/event.h"
#include "callgate/policy.h"
#include "callgate/request.h"
#include "chat/tool_index.h"
#include "policy/passed_calls.h"

namespace callgate::policy {

class UndeclaredToolCalls final : public Stage {
 public:
  // REQUIRES: mode is not `pass`. `tools` and `withheld` outlive the stage.
  UndeclaredToolCalls(UndeclaredTools mode, std::span<const ToolSpec> tools, Withheld& withheld)
      : as_text_(mode == UndeclaredTools::text), tools_(tools), withheld_(withheld) {}

  void push(const Event& event, EventSink& next) override;

 private:
  enum class State : std::uint8_t { declared, text_before_arguments, text_in_arguments, withheld };

  void start(const CallStarted& event, EventSink& next);
  void arguments(const ArgumentsDelta& event, EventSink& next);
  void finish(const CallFinished& event, EventSink& next);

  bool as_text_;
  ToolIndex tools_;
  Withheld& withheld_;
  State state_ = State::declared;
  std::string text_;
  PassedCalls passed_;
};

}  // namespace callgate::policy
