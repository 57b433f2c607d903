// What a LoopTurn shares with its tasks. Either side may end first.
#pragma once

#include <memory>
#include <utility>

#include "server/loop_turn.h"
#include "server/upstream_call.h"
#include "tool/cancel.h"

namespace callgate::server {

// One turn of the model: its events go to the loop as long as anybody wants them.
struct LoopTurn::Round final : EventSink {
  Round(LoopTurn& owner, loop::CallModel call_in)
      : turn(&owner),
        asked(std::move(call_in)),
        snapshot(owner.ask_.snapshot),
        go(owner.gateway_.loop_) {}

  void accept(const Event& event) override {
    if (turn == nullptr) return;
    heard = true;
    turn->loop_->accept(event);
  }

  LoopTurn* turn;  // nullptr: nobody wants it any more
  loop::CallModel asked;
  std::shared_ptr<const Snapshot> snapshot;  // models and upstreams live there
  std::shared_ptr<UpstreamTarget> target;
  std::unique_ptr<UpstreamCall> call;  // goes before its target
  net::Signal go;                      // the client took what was there
  bool heard = false;                  // an event went to the loop
  bool settling = false;
  bool over = false;
};

struct LoopTurn::Run {
  LoopTurn* turn = nullptr;  // nullptr: nobody wants the result
  loop::RunId id = 0;
  std::string name;
  tool::CancelToken cancel;
};

}  // namespace callgate::server
