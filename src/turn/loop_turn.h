// What a LoopRun shares with its tasks. Either side may end first.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "engine/sink_outlet.h"
#include "tool/cancel.h"
#include "turn/loop_run.h"
#include "turn/round.h"
#include "turn/summary/summary_turn.h"

namespace callgate::server {

// One turn of the model.
struct LoopRun::Turn {
  Turn(LoopRun& owner, loop::CallModel call)
      : run(&owner),
        asked(std::move(call)),
        round(owner.host_, owner.job_, owner.log_, asked.request, owner.round_policy_, owner,
              asked.retry),  // a second try begins with the next upstream
        go(owner.host_.loop) {}

  LoopRun* run;  // nullptr: nobody wants it any more
  const loop::CallModel asked;
  Round round;
  net::Signal go;  // the client took what was there
};

// The model summarizes what a turn leaves out.
struct LoopRun::Summary {
  Summary(LoopRun& owner, loop::CallModel call)
      : run(&owner),
        waits(std::move(call)),
        turn(owner.host_, owner.job_, owner.log_, owner.session_, owner.compaction_.question(),
             owner.compaction_.most_summary_bytes()) {}

  LoopRun* run;           // nullptr: nobody wants it any more
  loop::CallModel waits;  // for it
  SummaryTurn turn;
};

// The events of a round on their way to the loop. Alive as long as the round that writes into it.
class LoopRun::Outlet final : public engine::TurnOutlet {
 public:
  Outlet(LoopRun& run, const Request& request, PipelineOptions& options)
      : run_(run),
        tally_(options.id_seed),
        sink_(run),
        events_(request, *run.job_.protocol, bound(options), tally_) {}

  engine::TurnTally& tally() override { return tally_; }
  EventSink& choice(std::uint32_t index) override { return events_.choice(index); }
  void begin_frame() override {
    run_.tool_loop_->on_time(run_.now());
    run_.session_.begin_frame();
  }
  void end_frame() override { run_.session_.end_frame(); }

 private:
  class Sink final : public EventSink {
   public:
    explicit Sink(LoopRun& run) : run_(run) {}
    void accept(const Event& event) override { run_.take(event); }

   private:
    LoopRun& run_;
  };

  const PipelineOptions& bound(PipelineOptions& options) {
    tally_.observer = &run_.observer_;
    options.sink = &sink_;
    return options;
  }

  LoopRun& run_;
  engine::TurnTally tally_;
  Sink sink_;
  engine::SinkOutlet events_;
};

struct LoopRun::ToolRun {
  LoopRun* run = nullptr;  // nullptr: nobody wants the result
  loop::RunId id = 0;
  std::string name;
  std::string call;  // its id
  std::uint32_t round = 0;
  tool::CancelToken cancel;
};

}  // namespace callgate::server
