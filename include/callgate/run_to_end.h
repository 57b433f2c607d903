// Runs a ToolLoop to its end on one thread: for programs that bring a model and tools of their own and need no more.
// Text still reaches the client while the model writes it; tools run one after the other, when the model's turn is over. Who
// wants tools that start early and run at the same time owns the loop itself (see examples/tool_loop.cpp).
//
//   loop::Owner owner;
//   owner.model = [](const loop::CallModel& call, EventSink& events) { ... return Result<void>(); };
//   owner.tool = [](const loop::RunTool& run) { return loop::ToolResult{.text = "shipped"}; };
//   loop::Outcome outcome = loop::run_to_end(*loop, owner);
#pragma once

#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "callgate/loop.h"

namespace callgate::loop {

struct Owner {
  // Gives one turn of the model to `events`, TurnFinished last. An error means that the turn broke off there.
  std::function<Result<void>(const CallModel& call, EventSink& events)> model;
  std::function<ToolResult(const RunTool& run)> tool;
  std::function<Millis()> clock;                        // without one no time passes
  std::function<bool(const WaitForApproval&)> approve;  // without one nobody agrees
};

using Outcome = std::variant<Finish, ReturnToClient>;
// REQUIRES: the loop was not started; `owner.model` is given, `owner.tool` where there are tools.
Outcome run_to_end(ToolLoop& loop, const Owner& owner);

// The turn of a model that does not stream.
struct WholeTurn {
  std::string text;
  std::vector<CallRecord> calls;
  Usage usage;
  FinishReason reason = FinishReason::stop;
};
void play(const WholeTurn& turn, EventSink& events);

}  // namespace callgate::loop
