#include "room/room_voice.h"

#include <utility>

#include "client/protocol.h"
#include "front/admission.h"
#include "net/unix_time.h"
#include "room/room_book.h"
#include "room/room_turn.h"
#include "tool/host.h"
#include "turn/loop_choice.h"
#include "turn/model/model_choice.h"
#include "turn/refusal.h"
#include "turn/turn_record.h"

namespace callgate::server {
namespace {

tl::unexpected<Error> no_turn() {
  return tl::unexpected(Error{.code = ErrorCode::not_found,
                              .message = "no turn is running in this room",
                              .upstream_code = "no_running_turn"});
}

tl::unexpected<Error> too_many() {
  return tl::unexpected(Error{.code = ErrorCode::rate_limited,
                              .message = "too many messages wait in this room",
                              .upstream_code = "room_queue_full"});
}

}  // namespace

Error room_moved() {
  return {.code = ErrorCode::conflict,
          .message = "another gateway has this room now",
          .upstream_code = std::string(kRoomMoved)};
}

RoomVoice::RoomVoice(const Desk& desk, std::shared_ptr<Room> room, std::string key_name,
                     std::string peer)
    : desk_(desk),
      host_(desk.turn_host()),
      room_(std::move(room)),
      key_name_(std::move(key_name)),
      peer_(std::move(peer)) {}

Result<void> RoomVoice::say(RoomInput input) {
  if (input.kind != RoomInput::Kind::user_message) return steer(input);
  auto ask = make_ask(input);
  if (!ask) return tl::unexpected(ask.error());
  return post(std::move(*ask));
}

// A message that is repeated, because its first delivery is uncertain, counts once.
net::Task<Result<void>> RoomVoice::say_noted(RoomInput input) {
  const std::shared_ptr<RoomBook> book = room_->book();
  if (book == nullptr || host_.world.draining.load(std::memory_order_relaxed)) {
    co_return tl::unexpected(room_moved());
  }
  if (input.kind != RoomInput::Kind::user_message) co_return steer(input);
  if (!input.id.empty() && room_->knows(input.id)) co_return Result<void>();
  if (room_->full()) co_return too_many();
  auto ask = make_ask(input);
  if (!ask) co_return tl::unexpected(ask.error());
  store::RoomMessage message;
  message.id = ask->id;
  message.content = ask->content.text;
  message.body = input.body;
  message.peer = peer_;
  auto noting = book->add(host_.loop, std::move(message));
  const bool noted = co_await noting;
  if (!noted) co_return tl::unexpected(room_moved());
  co_return post(std::move(*ask));
}

void RoomVoice::adopt(const store::RoomMessage& message) {
  RoomInput input;
  input.id = message.id;
  input.body = message.body;
  auto ask = make_ask(input);
  // Its key or model may be gone, or too much runs here: as if its turn had failed.
  if (!ask) ask = RoomAsk(message.id, RawJson{message.content}, nullptr);
  if (room_->adopt(std::move(*ask)) == Room::Place::first) {
    host_.loop.spawn(play_room(host_, room_));
  }
}

Result<std::unique_ptr<LoopWork>> RoomVoice::make_work(const std::string& body) {
  auto work = std::make_unique<LoopWork>();
  TurnJob& job = work->job;
  if (!job.reserve(host_.world.memory, body.size())) return tl::unexpected(out_of_memory());
  job.snapshot = desk_.snapshot;
  const auto key = job.snapshot->access.find(key_name_);
  if (!key) return tl::unexpected(key.error());
  job.key = *key;
  net::Headers unused;
  const auto admitted = admit_turn(host_.world, *job.snapshot, *key, unused);
  if (!admitted) return tl::unexpected(admitted.error());
  job.protocol = client::find("openai_chat");
  auto request = job.protocol->decode({.body = body});
  if (!request) return tl::unexpected(as_room_error(request.error()));
  auto model = choose_for(*job.snapshot, *key, *request);
  if (!model) return tl::unexpected(model.error());
  tool::ToolHost* const tools = host_.world.tools;
  const auto catalogue = tools == nullptr ? nullptr : tools->catalogue();
  const KeyConfig* config = *key == nullptr ? nullptr : &(*key)->config;
  auto choice = choose_loop(*request, net::Headers(), job.snapshot->config, *model->config, config,
                            catalogue.get());
  if (!choice) return tl::unexpected(choice.error());
  if (!choice->on) {
    return fail(ErrorCode::invalid_request, "callgate.loop: a room always runs the loop",
                "callgate.loop");
  }
  auto meter = admit_tokens(host_.world, {job.snapshot, job.key, *model->config, *request}, unused);
  if (!meter) return tl::unexpected(meter.error());
  job.meter = std::move(*meter);
  const bool logged = logs_content(job.snapshot->config, config, *model->config);
  if (logged && job.copies.grow_to(body.size())) job.received = body;
  job.dialect = model->dialect;
  job.options.policy = model->policy;
  job.model = std::move(*model);
  job.request = std::move(*request);
  work->choice = std::make_unique<LoopChoice>(std::move(*choice));
  return work;
}

Result<RoomAsk> RoomVoice::make_ask(RoomInput& input) {
  auto made = make_work(input.body);
  if (!made) return tl::unexpected(made.error());
  std::unique_ptr<LoopWork> work = std::move(*made);
  TurnJob& job = work->job;
  job.request_id = host_.mint.mint_timed("req_", net::unix_ms());
  job.session = "room:" + room_->name();
  job.peer = peer_;
  job.received_bytes = input.body.size();
  job.protocol_name = "room";
  RawJson content = job.request.messages.back().content;
  if (input.id.empty()) input.id = host_.mint.mint("msg_");
  return RoomAsk(input.id, std::move(content), std::move(work));
}

Result<void> RoomVoice::post(RoomAsk ask) {
  switch (room_->post(std::move(ask))) {
    case Room::Place::first:
      host_.loop.spawn(play_room(host_, room_));
      return {};
    case Room::Place::queued:
    case Room::Place::known:
      return {};
    case Room::Place::refused:
      break;
    case Room::Place::moved:
      return tl::unexpected(room_moved());
  }
  return too_many();
}

Result<void> RoomVoice::steer(const RoomInput& input) {
  const std::string loop = room_->loop_id();
  if (loop.empty()) return no_turn();
  LoopCommand command;
  command.text = input.text;
  command.run = input.run;
  using Kind = RoomInput::Kind;
  if (input.kind == Kind::inject) command.kind = LoopCommand::Kind::inject;
  if (input.kind == Kind::approve) command.kind = LoopCommand::Kind::approve;
  if (input.kind == Kind::deny) command.kind = LoopCommand::Kind::deny;
  switch (host_.world.loops.steer(loop, nullptr, std::move(command))) {
    case RunningLoops::Answer::taken:
      break;
    case RunningLoops::Answer::no_loop:
      return no_turn();
    case RunningLoops::Answer::no_run:
      return tl::unexpected(Error{.code = ErrorCode::not_found,
                                  .message = "run: no call of that number waits for approval",
                                  .param = "run",
                                  .upstream_code = "run_not_found"});
  }
  if (input.kind != Kind::inject) return {};
  const bool told =
      room_->inject(input.id.empty() ? host_.mint.mint("msg_") : input.id, input.text);
  if (!told) return no_turn();
  return {};
}

}  // namespace callgate::server
