#include "server/room_turn.h"

#include <utility>

#include "client/protocol.h"
#include "server/observe.h"

namespace callgate::server {
namespace {

// Reasoning comes in small pieces that nobody reads one by one.
constexpr std::size_t kThoughtBytes = 1024;
constexpr std::uint64_t kThoughtMs = 100;

// The model gets all that was said, behind the message's own system prompt. A message that names a conversation gets what
// that one remembers instead.
LoopWork work_of(RoomAsk& ask, const Room& room, std::uint64_t now) {
  LoopWork work = std::move(*ask.work);
  work.started_ms = now;
  if (!work.choice.conversation.empty()) return work;
  std::vector<Message>& messages = work.request.messages;
  messages.pop_back();  // the conversation has it
  for (Message& message : room.conversation()) messages.push_back(std::move(message));
  return work;
}

}  // namespace

RoomTurn::RoomTurn(Gateway& gateway, Room& room, RoomAsk ask)
    : gateway_(gateway),
      room_(room),
      reply_to_(ask.id),
      model_(ask.work->request.model),
      request_id_(ask.work->request_id),
      hides_reasoning_(ask.work->options.policy.reasoning == ReasoningForm::hide),
      snapshot_(ask.work->snapshot),
      key_(ask.work->key),
      run_(gateway, work_of(ask, room, gateway.loop_.now()), net::Headers(), *this),
      bytes_before_(room.bytes()) {
  if (run_.max_logged() == 0) return;
  Request shape;  // the log has whole answers
  shape.model = model_;
  logged_.emplace(shape, make_identity(gateway.mint_, shape, ReasoningForm::reasoning_content),
                  *client::find("openai_chat"), PolicyOptions(),
                  snapshot_->config.limits.max_held_back.count, run_.max_logged(), run_.id());
}

net::Task<> RoomTurn::run() {
  const TurnSlots slots(gateway_.world_, key_);
  std::optional<Error> refused = slots.refusal();
  if (gateway_.world_.draining.load(std::memory_order_relaxed)) {
    refused = Error{.code = ErrorCode::unavailable, .message = "the gateway is shutting down"};
  }
  if (refused) {
    started();
    room_.fail_stream(*refused);
    co_return;
  }
  const StreamGauge gauge(gateway_.world_);
  (void)co_await run_.run();
  finish();
}

void RoomTurn::started() {
  begun_ = true;
  RoomStream stream;
  stream.stream = "stream_" + run_.id().substr(run_.id().find('_') + 1);
  stream.model = model_;
  stream.loop = run_.id();
  stream.request = request_id_;
  stream.reply_to = reply_to_;
  room_.begin_stream(std::move(stream));
}

void RoomTurn::accept(const Event& event) {
  if (logged_) logged_->accept(event);
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

void RoomTurn::notice(const loop::Notice& notice) {
  if (logged_) logged_->notice(notice);
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

void RoomTurn::wait_for_approval(const loop::WaitForApproval& wait) { room_.ask_approval(wait); }

void RoomTurn::text(std::string_view delta) {
  end_thinking();
  run_.wrote();
  room_.add_text(delta);
}

void RoomTurn::think(std::string_view delta) {
  if (hides_reasoning_) return;
  if (!std::exchange(thinking_, true)) {
    room_.end_text();
    room_.begin_thinking();
  }
  if (thought_.empty()) thought_since_ = gateway_.loop_.now();
  thought_ += delta;
  const bool due = gateway_.loop_.now() - thought_since_ >= kThoughtMs;
  if (due || thought_.size() >= kThoughtBytes) send_thinking();
}

void RoomTurn::send_thinking() {
  if (thought_.empty()) return;
  run_.wrote();
  room_.add_thinking(thought_);
  thought_.clear();
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

net::Millis RoomTurn::patience() const {
  if (thought_.empty()) return net::kNever;
  const std::uint64_t waited = gateway_.loop_.now() - thought_since_;
  return net::Millis(waited < kThoughtMs ? kThoughtMs - waited : 1);
}

net::Task<> RoomTurn::on_time() {
  if (!thought_.empty() && gateway_.loop_.now() - thought_since_ >= kThoughtMs) send_thinking();
  co_return;
}

void RoomTurn::finish() {
  if (!begun_) started();
  pause_text();
  LoopRun::Delivery delivery;
  delivery.bytes_out = room_.bytes() - bytes_before_;
  if (run_.failed()) {
    const bool heard = run_.first_token_ms().has_value();
    delivery.how = heard ? TurnEnd::How::answered : TurnEnd::How::failed;
    delivery.status = client::status_of(run_.error());
    delivery.reason = FinishReason::upstream_error;
    if (logged_) logged_->fail(run_.error());
    room_.fail_stream(run_.error());
  } else {
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
    delivery.reason = end.reason;
    delivery.known_reason = end.reason;
    if (logged_) logged_->finish({});
    room_.end_stream(end);
  }
  if (logged_) {
    delivery.body = logged_->out();
    delivery.kept = logged_->kept({});
  }
  run_.record_end(std::move(delivery));
}

net::Task<> play_room(Gateway& gateway, std::shared_ptr<Room> room) {
  for (;;) {
    std::optional<RoomAsk> ask = room->next();
    if (!ask) co_return;
    bool threw = false;
    try {
      RoomTurn turn(gateway, *room, std::move(*ask));
      co_await turn.run();
    } catch (const std::exception& fault) {
      threw = true;
      gateway.loop().report_fault(fault.what());
    }
    if (!threw) continue;
    // The room goes on with what waits.
    const Error error{.code = ErrorCode::internal, .message = "the turn broke off"};
    room->fail_stream(error);
  }
}

}  // namespace callgate::server
