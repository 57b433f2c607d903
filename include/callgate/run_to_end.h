// Runs a ToolLoop to its end on the calling thread, for programs that bring a model and tools of their own. Text still
// reaches the client while the model writes it; tools run one after the other, when the model's turn is over. For tools
// that start early and run at the same time, own the loop yourself (see examples/tool_loop.cpp).
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

// What the loop needs from the outside. The functions are called on the thread of run_to_end() and may block.
struct Owner {
  // Gives one turn of the model to `events`, TurnFinished last. An error means that the turn broke off there.
  std::function<Result<void>(const CallModel& call, EventSink& events)> model;
  std::function<ToolResult(const RunTool& run)> tool;
  std::function<Millis()> clock;                        // if empty, no time passes
  std::function<bool(const WaitForApproval&)> approve;  // if empty, approval is denied
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
// Gives the turn to `events` as if it had been streamed.
void play(const WholeTurn& turn, EventSink& events);

}  // namespace callgate::loop
