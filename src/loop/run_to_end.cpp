#include "callgate/run_to_end.h"

#include <deque>

#include "base/check.h"

namespace callgate::loop {
namespace {

class Runner final : public EventSink {
 public:
  Runner(ToolLoop& loop, const Owner& owner) : loop_(loop), owner_(owner) {}

  Outcome run() {
    loop_.start(now());
    for (;;) {
      take();
      CALLGATE_CHECK(!todo_.empty());  // all that the loop could wait for is done by then
      Action action = std::move(todo_.front());
      todo_.pop_front();
      if (auto* finish = std::get_if<Finish>(&action)) return std::move(*finish);
      if (auto* back = std::get_if<ReturnToClient>(&action)) return std::move(*back);
      perform(action);
      loop_.on_time(now());
    }
  }

  // An event of the model's turn. What the loop wants done waits, but for its not wanting the turn any more.
  void accept(const Event& event) override {
    if (!wanted_) return;
    loop_.on_time(now());
    take();
    if (!wanted_) return;
    wanted_ = !std::holds_alternative<TurnFinished>(event);
    loop_.accept(event);
    take();
  }

 private:
  Millis now() const { return owner_.clock ? owner_.clock() : 0; }

  void take() {
    for (Action& action : loop_.take_actions()) {
      if (const auto* stop = std::get_if<StopModel>(&action)) {
        wanted_ = wanted_ && stop->turn != turn_;
      } else if (const auto* cancel = std::get_if<CancelTool>(&action)) {
        drop(cancel->run);
      } else {
        todo_.push_back(std::move(action));
      }
    }
  }

  // A run that has not begun must not begin any more.
  void drop(RunId run) {
    std::erase_if(todo_, [&](const Action& action) {
      const auto* waiting = std::get_if<RunTool>(&action);
      return waiting != nullptr && waiting->run == run;
    });
  }

  void perform(const Action& action) {
    if (const auto* call = std::get_if<CallModel>(&action)) call_model(*call);
    if (const auto* run = std::get_if<RunTool>(&action)) {
      ToolResult result = owner_.tool(*run);
      loop_.finish_run(run->run, std::move(result), now());
    }
    if (const auto* wait = std::get_if<WaitForApproval>(&action)) {
      if (owner_.approve && owner_.approve(*wait)) {
        loop_.approve(wait->run, now());
      } else {
        loop_.deny(wait->run, "", now());
      }
    }
  }

  void call_model(const CallModel& call) {
    turn_ = call.turn;
    wanted_ = true;
    const Result<void> played = owner_.model(call, *this);
    if (!wanted_) return;
    wanted_ = false;
    Error error{.code = ErrorCode::upstream_failed, .message = "the model's turn has no end"};
    if (!played) error = played.error();
    loop_.fail_turn(call.turn, error, now());
  }

  ToolLoop& loop_;
  const Owner& owner_;
  std::deque<Action> todo_;
  std::uint32_t turn_ = 0;
  bool wanted_ = false;  // the turn goes on, and the loop wants it
};

}  // namespace

Outcome run_to_end(ToolLoop& loop, const Owner& owner) { return Runner(loop, owner).run(); }

void play(const WholeTurn& turn, EventSink& events) {
  if (!turn.text.empty()) events.accept(TextDelta{turn.text});
  CallIndex index = 0;
  for (const CallRecord& call : turn.calls) {
    events.accept(CallStarted{index, call.name, call.id});
    for (const ExtraField& field : call.extra) {
      events.accept(FieldReported{FieldReported::Scope::call, field.name, field.value.text, index});
    }
    if (!call.arguments.empty()) events.accept(ArgumentsDelta{index, call.arguments});
    events.accept(CallFinished{index, CallOutcome::complete});
    ++index;
  }
  if (turn.usage != Usage{}) events.accept(UsageReported{turn.usage});
  events.accept(TurnFinished{turn.reason});
}

}  // namespace callgate::loop
