#include "room/room_socket.h"

#include <utility>

#include "client/protocol.h"
#include "front/admission.h"
#include "json/writer.h"
#include "net/unix_time.h"
#include "room/room_turn.h"
#include "tool/host.h"
#include "turn/loop_choice.h"
#include "turn/model/model_choice.h"
#include "turn/observe.h"
#include "turn/refusal.h"
#include "turn/turn_record.h"

namespace callgate::server {
namespace {

constexpr std::size_t kWriteBytes = std::size_t{64} << 10;  // taken from the room at a time
constexpr net::Millis kFarewell{2'000};                     // for a client to say goodbye, too

net::WebSocket::Options socket_options(const RoomsConfig& limits) {
  net::WebSocket::Options options;
  options.limits.frame = limits.max_frame.count;
  options.limits.message = limits.max_message.count;
  return options;
}

tl::unexpected<Error> no_turn() {
  return tl::unexpected(Error{.code = ErrorCode::not_found,
                              .message = "no turn is running in this room",
                              .upstream_code = "no_running_turn"});
}

}  // namespace

RoomSocket::RoomSocket(const Desk& desk, Rooms& rooms, Ask& ask, RoomJoin join)
    : desk_(desk),
      rooms_(rooms),
      host_(desk.turn_host()),
      ask_(ask),
      join_(std::move(join)),
      limits_(ask.snapshot->config.rooms),
      key_name_(ask.key == nullptr ? "" : ask.key->config.name),
      socket_(ask.exchange, socket_options(limits_)),
      subscriber_(std::make_shared<RoomSubscriber>(host_.loop)),
      wake_(host_.loop),
      written_(host_.loop) {
  const auto offers = ask.exchange.head().headers.find("sec-websocket-extensions").value_or("");
  subscriber_->deflates = net::offers_deflate(offers);
  subscriber_->sentences = join_.sentences;
  subscriber_->wake = [this] { on_wake(); };
  farewell_.on_expiry([](void* self) { static_cast<RoomSocket*>(self)->ask_.exchange.abort(); },
                      this);
}

RoomSocket::~RoomSocket() {
  subscriber_->wake = nullptr;
  if (room_ != nullptr) room_->leave(*subscriber_);
}

Result<void> RoomSocket::join() {
  auto joined = rooms_.join(key_name_, join_.room, subscriber_, join_.last_seq);
  if (!joined) return tl::unexpected(joined.error());
  room_ = std::move(*joined);
  return {};
}

net::Task<> RoomSocket::run() {
  net::Headers headers;
  headers.add("x-request-id", ask_.id);
  const auto offered = ask_.exchange.head().headers.find("sec-websocket-protocol").value_or("");
  if (net::has_token(offered, "callgate")) headers.add("sec-websocket-protocol", "callgate");
  auto accepted = co_await socket_.accept(std::move(headers));
  if (!accepted) co_return;
  {
    const net::Companion writer(host_.loop, write_all());
    co_await read_all();
    stopping_ = true;
    wake_.notify();
    if (!writer.done()) (void)co_await written_.wait(kFarewell);
    // A frame that was cut off cannot be followed by anything.
    if (!writer.done()) ask_.exchange.abort();
  }
  co_await socket_.leave();
}

net::Task<> RoomSocket::read_all() {
  for (;;) {
    auto message = co_await socket_.read(patience());
    if (!message) co_return;
    if (*message) {
      take(**message);
      continue;
    }
    const bool alive = co_await stay_in_touch();
    if (!alive) co_return;
  }
}

bool RoomSocket::awaits_pong() const { return pinged_at_ && socket_.heard_at() < *pinged_at_; }

// Until the client has to be pinged, or has to have answered.
net::Millis RoomSocket::patience() const {
  if (limits_.ping_interval.count() == 0) return net::kNever;
  const std::uint64_t now = host_.loop.now();
  const Milliseconds most = awaits_pong() ? limits_.pong_timeout : limits_.ping_interval;
  const std::uint64_t due =
      (awaits_pong() ? *pinged_at_ : socket_.heard_at()) + static_cast<std::uint64_t>(most.count());
  return net::Millis(due > now ? due - now : 1);
}

net::Task<bool> RoomSocket::stay_in_touch() {
  const std::uint64_t now = host_.loop.now();
  if (awaits_pong()) {
    const auto most = static_cast<std::uint64_t>(limits_.pong_timeout.count());
    if (now < *pinged_at_ + most) co_return true;
    ask_.exchange.abort();
    co_return false;
  }
  if (now < socket_.heard_at() + static_cast<std::uint64_t>(limits_.ping_interval.count())) {
    co_return true;
  }
  pinged_at_ = now;
  socket_.queue_ping();
  const auto sent = co_await socket_.flush();
  co_return sent.has_value();
}

net::Task<> RoomSocket::write_all() {
  while (!stopping_) {
    const Room::Mail mail = room_->take(*subscriber_, kWriteBytes);
    for (const RoomFramePtr& frame : mail.frames) {
      const bool deflated = socket_.deflates() && !frame->deflated.empty();
      socket_.queue_frame(deflated ? frame->deflated : frame->plain);
    }
    if (mail.state != RoomSubscriber::State::open) {
      say_goodbye(mail.state);
      (void)co_await socket_.flush();
      break;
    }
    if (mail.frames.empty()) {
      (void)co_await wake_.wait();
      continue;
    }
    const auto sent = co_await socket_.flush();
    if (!sent) break;
  }
  written_.notify();
}

// A client that has to go may be one that reads nothing: it is not waited for long.
void RoomSocket::on_wake() {
  wake_.notify();
  const bool goes = room_->state_of(*subscriber_) != RoomSubscriber::State::open;
  if (goes && !farewell_.armed()) host_.loop.arm(farewell_, kFarewell);
}

void RoomSocket::say_goodbye(RoomSubscriber::State state) {
  if (state == RoomSubscriber::State::too_slow) {
    socket_.queue_close(net::kCloseTryAgainLater, "too slow, join again with last_seq");
  } else {
    socket_.queue_close(net::kCloseGoingAway, "the gateway is shutting down");
  }
}

void RoomSocket::take(const net::WebSocket::Message& message) {
  if (message.opcode != net::Opcode::text) {
    const Error error{.code = ErrorCode::invalid_request,
                      .message = "expected a text frame with a JSON object"};
    return tell_error(error, {});
  }
  const RoomDefaults defaults{.model = join_.model, .conversation = join_.conversation};
  auto input = read_room_input(message.payload, defaults);
  if (!input) return tell_error(input.error(), {});
  const std::string id = input->id;
  if (auto done = perform(std::move(*input)); !done) tell_error(done.error(), id);
}

Result<void> RoomSocket::perform(RoomInput input) {
  switch (input.kind) {
    case RoomInput::Kind::user_message:
      return ask_turn(input);
    case RoomInput::Kind::cancel:
    case RoomInput::Kind::inject:
    case RoomInput::Kind::approve:
    case RoomInput::Kind::deny:
      return steer(input);
  }
  return {};
}

Result<std::unique_ptr<LoopWork>> RoomSocket::make_work(const std::string& body) {
  auto work = std::make_unique<LoopWork>();
  TurnJob& job = work->job;
  if (!job.reserve(host_.world.memory, body.size())) return tl::unexpected(out_of_memory());
  job.snapshot = desk_.snapshot;
  const auto key = job.snapshot->access.find(key_name_);
  if (!key) return tl::unexpected(key.error());
  job.key = *key;
  net::Headers unused;
  if (auto allowed = admit_address(host_.world, ask_, unused); !allowed) {
    return tl::unexpected(allowed.error());
  }
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

Result<void> RoomSocket::ask_turn(RoomInput& input) {
  auto made = make_work(input.body);
  if (!made) return tl::unexpected(made.error());
  std::unique_ptr<LoopWork> work = std::move(*made);
  TurnJob& job = work->job;
  job.request_id = host_.mint.mint_timed("req_", net::unix_ms());
  job.session = "room:" + join_.room;
  job.peer = ask_.exchange.peer();
  job.received_bytes = input.body.size();
  job.protocol_name = "room";
  RawJson content = job.request.messages.back().content;
  if (input.id.empty()) input.id = host_.mint.mint("msg_");
  switch (room_->post(RoomAsk(input.id, std::move(content), std::move(work)))) {
    case Room::Place::first:
      host_.loop.spawn(play_room(host_, room_));
      return {};
    case Room::Place::queued:
      return {};
    case Room::Place::refused:
      break;
  }
  return tl::unexpected(Error{.code = ErrorCode::rate_limited,
                              .message = "too many messages wait in this room",
                              .upstream_code = "room_queue_full"});
}

Result<void> RoomSocket::steer(const RoomInput& input) {
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
  if (input.kind == Kind::inject) {
    room_->inject(input.id.empty() ? host_.mint.mint("msg_") : input.id, input.text);
  }
  return {};
}

void RoomSocket::tell_error(const Error& given, std::string_view reply_to) {
  const Error error = bounded(given);
  observe_refusal(host_.world, ask_, client::status_of(error), error);
  std::string json = "{\"type\":\"error\",";
  if (!reply_to.empty()) {
    json::append_string(json.append("\"reply_to\":"), reply_to);
    json += ',';
  }
  const std::string body = client::find("openai_chat")->error_body(error);  // {"error":{...}}
  room_->tell(subscriber_, json.append(body, 1, std::string::npos));
}

}  // namespace callgate::server
