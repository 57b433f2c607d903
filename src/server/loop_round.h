// What a LoopRun shares with its tasks. Either side may end first.
#pragma once

#include <memory>
#include <utility>

#include "dial/upstream_call.h"
#include "server/loop_run.h"
#include "tool/cancel.h"

namespace callgate::server {

// One turn of the model: its events go to the loop as long as anybody wants them.
struct LoopRun::Round final : EventSink {
  Round(LoopRun& owner, loop::CallModel call_in)
      : run(&owner),
        asked(std::move(call_in)),
        snapshot(owner.work_.snapshot),
        capture(owner.work_.capture),
        go(owner.loop_) {}

  // A new attempt; nothing of the last one is used any more.
  void begin_call(std::shared_ptr<UpstreamTarget> used, const UpstreamConfig& upstream) {
    captured.reset();
    call.reset();
    target = std::move(used);
    call = target->call(*run->work_.model.config);
    if (capture != nullptr) captured.emplace(*call, *capture, upstream);
  }
  UpstreamCall& wire() { return captured ? static_cast<UpstreamCall&>(*captured) : *call; }

  void accept(const Event& event) override {
    if (run == nullptr) return;
    heard = true;
    const bool words =
        std::holds_alternative<TextDelta>(event) || std::holds_alternative<ReasoningDelta>(event);
    // Of a turn that failed only what was held back is of use, behind what the client has of it.
    if (pipeline->error() && !(words && said)) return;
    said = said || words;
    if (const auto* end = std::get_if<TurnFinished>(&event)) {
      if (end->reason == FinishReason::upstream_error) return;  // told with its error
      run->count_usage(*this, pipeline->summary());
    }
    run->tool_loop_->accept(event);
  }

  LoopRun* run;  // nullptr: nobody wants it any more
  loop::CallModel asked;
  std::shared_ptr<const Snapshot> snapshot;  // models and upstreams live there
  std::shared_ptr<Capture> capture;
  std::shared_ptr<UpstreamTarget> target;
  std::unique_ptr<UpstreamCall> call;  // goes before its target
  std::optional<CapturedCall> captured;
  net::Signal go;                      // the client took what was there
  const Pipeline* pipeline = nullptr;  // whose events these are
  bool heard = false;                  // an event went to the loop
  bool said = false;                   // and it was words
  bool as_text = false;                // calls were asked to stay in the text
  bool settling = false;
  bool over = false;
};

struct LoopRun::Run {
  LoopRun* run = nullptr;  // nullptr: nobody wants the result
  loop::RunId id = 0;
  std::string name;
  std::string call;  // its id
  std::uint32_t round = 0;
  tool::CancelToken cancel;
};

}  // namespace callgate::server
