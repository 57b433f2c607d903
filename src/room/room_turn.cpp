#include "room/room_turn.h"

#include <utility>

#include "front/admission.h"
#include "room/room_book.h"
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

// The turn ends for its subscribers when the next owner of the room would know of it. False: there is one already.
net::Task<bool> note_end(net::Loop& loop, Room& room, std::string message) {
  const std::shared_ptr<RoomBook> book = room.book();
  if (book == nullptr) co_return true;
  std::optional<Room::Ending> ending = room.begin_end();
  if (!ending) co_return true;
  auto noting = book->end(loop, std::move(message), ending->seq, std::move(ending->answer));
  const bool noted = co_await noting;
  if (!noted) (void)room.disown();
  co_return noted;
}

// False: another gateway owns the room.
net::Task<bool> note_beginning(net::Loop& loop, Room& room, std::string message,
                               std::string stream) {
  const std::shared_ptr<RoomBook> book = room.book();
  if (book == nullptr) co_return true;
  auto noting = book->begin(loop, std::move(message), std::move(stream));
  const bool noted = co_await noting;
  if (!noted) (void)room.disown();
  co_return noted;
}

// A message whose turn cannot be made here.
net::Task<> fail_turn(TurnHost host, Room& room, std::string message) {
  RoomStream stream;
  stream.stream = host.mint.mint("stream_");
  stream.reply_to = message;
  auto beginning = note_beginning(host.loop, room, message, stream.stream);
  const bool begun = co_await beginning;
  if (!begun) co_return;
  room.begin_stream(std::move(stream));
  auto noting = note_end(host.loop, room, std::move(message));
  const bool noted = co_await noting;
  const Error error{
      .code = ErrorCode::unavailable,
      .message = "the gateway that took the message is gone, and this one cannot run it",
      .upstream_code = "turn_lost"};
  if (noted) room.fail_stream(error);
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
  auto refused = slots.refusal();
  if (host_.world.draining.load(std::memory_order_relaxed)) {
    refused = std::make_unique<Error>(
        Error{.code = ErrorCode::unavailable, .message = "the gateway is shutting down"});
  }
  if (refused) {
    begin_loop();
    auto noting = note_end(host_.loop, room_, reply_to_);
    const bool noted = co_await noting;
    if (noted) room_.fail_stream(*refused);
    co_return;
  }
  const StreamGauge gauge(host_.world);
  co_await run_.run();
}

std::string RoomTurn::stream() const {
  return "stream_" + run_.id().substr(run_.id().find('_') + 1);
}

void RoomTurn::begin_loop() {
  begun_ = true;
  RoomStream stream;
  stream.stream = this->stream();
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
  auto noting = note_end(host_.loop, room_, reply_to_);
  const bool noted = co_await noting;
  if (!noted) co_return Result<void>();
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
    const std::string message = ask->id;
    if (ask->work == nullptr) {
      auto failing = fail_turn(host, *room, message);
      co_await failing;
      continue;
    }
    bool threw = false;
    try {
      RoomTurn turn(host, *room, std::move(*ask));
      auto noting = note_beginning(host.loop, *room, message, turn.stream());
      const bool begun = co_await noting;
      if (!begun) continue;
      co_await turn.run();
    } catch (const std::exception& fault) {
      threw = true;
      host.loop.report_fault(fault.what());
    }
    if (!threw) continue;
    // The room continues with what waits.
    auto noting = note_end(host.loop, *room, message);
    const bool noted = co_await noting;
    const Error error{.code = ErrorCode::internal, .message = "the turn broke off"};
    if (noted) room->fail_stream(error);
  }
}

}  // namespace callgate::server
