#include "room/room_turn.h"

#include <utility>

#include "front/admission.h"
#include "turn/observe.h"

namespace callgate::server {
namespace {

// The model gets everything that was said, after the message's own system prompt. A message that names a conversation gets what
// that one remembers instead.
LoopWork work_of(RoomAsk& ask, const Room& room, std::uint64_t now) {
  LoopWork work = std::move(*ask.work);
  work.job.started_ms = now;
  if (!work.choice->conversation.empty()) return work;
  std::vector<Message>& messages = work.job.request.messages;
  messages.pop_back();  // the conversation has it
  for (Message& message : room.conversation()) messages.push_back(std::move(message));
  return work;
}

}  // namespace

RoomTurn::RoomTurn(const TurnHost& host, Room& room, RoomAsk ask)
    : host_(host),
      room_(room),
      reply_to_(ask.id),
      model_(ask.work->job.request.model),
      request_id_(ask.work->job.request_id),
      hides_reasoning_(ask.work->job.options.policy.reasoning == ReasoningForm::hide),
      snapshot_(ask.work->job.snapshot),
      key_(ask.work->job.key),
      run_(host, work_of(ask, room, host.loop.now()), net::Headers(), *this, LoopRun::Wants::words),
      bytes_before_(room.bytes()) {}

net::Task<> RoomTurn::run() {
  const TurnSlots slots(host_.world, key_);
  std::optional<Error> refused = slots.refusal();
  if (host_.world.draining.load(std::memory_order_relaxed)) {
    refused = Error{.code = ErrorCode::unavailable, .message = "the gateway is shutting down"};
  }
  if (refused) {
    begin_loop();
    room_.fail_stream(*refused);
    co_return;
  }
  const StreamGauge gauge(host_.world);
  co_await run_.run();
}

void RoomTurn::begin_loop() {
  begun_ = true;
  RoomStream stream;
  stream.stream = "stream_" + run_.id().substr(run_.id().find('_') + 1);
  stream.model = model_;
  stream.loop = run_.id();
  stream.request = request_id_;
  stream.reply_to = reply_to_;
  room_.begin_stream(std::move(stream));
}

void RoomTurn::hear(const Event& event) {
  std::visit(Overloaded{
                 [&](const TextDelta& e) { text(e.text); },
                 [&](const ReasoningDelta& e) { think(e.text); },
                 [&](const RefusalDelta& e) { text(e.text); },
                 [](const CallStarted&) {},
                 [](const ArgumentsDelta&) {},
                 [](const CallFinished&) {},
                 [](const FieldReported&) {},
                 [](const UsageReported&) {},
                 [](const TurnFinished&) {},
             },
             event);
}

void RoomTurn::hear(const loop::Notice& notice) {
  std::visit(Overloaded{
                 [&](const loop::ToolCallNotice& call) {
                   pause_text();
                   room_.begin_call(call);
                 },
                 [&](const loop::ToolResultNotice& result) { room_.end_call(result); },
                 [&](const loop::TextPaused&) { pause_text(); },
                 [&](const loop::LoopEnded& ended) { ended_ = ended; },
             },
             notice);
}

void RoomTurn::say() {
  heard_ = true;
  run_.log().heard_token();
  run_.log().trace().wrote();
}

void RoomTurn::text(std::string_view delta) {
  end_thinking();
  say();
  room_.add_text(delta);
}

void RoomTurn::think(std::string_view delta) {
  if (hides_reasoning_) return;
  if (!std::exchange(thinking_, true)) {
    room_.end_text();
    room_.begin_thinking();
  }
  const std::uint64_t now = host_.loop.now();
  thoughts_.add(delta, now);
  if (thoughts_.is_due(now)) send_thinking();
}

void RoomTurn::send_thinking() {
  if (thoughts_.empty()) return;
  say();
  room_.add_thinking(thoughts_.take());
}

void RoomTurn::end_thinking() {
  if (!std::exchange(thinking_, false)) return;
  send_thinking();
  room_.end_thinking();
}

void RoomTurn::pause_text() {
  end_thinking();
  room_.end_text();
}

std::optional<net::Millis> RoomTurn::patience(std::uint64_t now) const {
  return thoughts_.left(now);
}

void RoomTurn::on_time(std::uint64_t now) {
  if (thoughts_.is_due(now)) send_thinking();
}

// The end of the answer: what it says, the room has heard.
net::Task<Result<void>> RoomTurn::respond(int, std::string_view) {
  if (!begun_) begin_loop();
  pause_text();
  if (failure_) {
    room_.fail_stream(*failure_);
    co_return Result<void>();
  }
  RoomStreamEnd end;
  if (run_.finish()) {
    end.reason = run_.finish()->reason;
    if (run_.finish()->usage != Usage{}) end.usage = run_.finish()->usage;
  }
  end.estimate = run_.usage_estimate();
  if (ended_) {
    end.end = ended_->end;
    end.rounds = ended_->rounds;
    end.calls = ended_->calls_made;
  }
  room_.end_stream(end);
  co_return Result<void>();
}

net::Task<> play_room(TurnHost host, std::shared_ptr<Room> room) {
  for (;;) {
    std::optional<RoomAsk> ask = room->next();
    if (!ask) co_return;
    bool threw = false;
    try {
      RoomTurn turn(host, *room, std::move(*ask));
      co_await turn.run();
    } catch (const std::exception& fault) {
      threw = true;
      host.loop.report_fault(fault.what());
    }
    if (!threw) continue;
    // The room goes on with what waits.
    const Error error{.code = ErrorCode::internal, .message = "the turn broke off"};
    room->fail_stream(error);
  }
}

}  // namespace callgate::server
