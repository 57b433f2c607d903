#include "room/room_socket.h"

#include <utility>

#include "client/protocol.h"
#include "front/admission.h"
#include "room/room_keeper.h"
#include "room/room_speaker.h"
#include "turn/observe.h"
#include "turn/refusal.h"

namespace callgate::server {
namespace {

constexpr std::size_t kWriteBytes = std::size_t{64} << 10;  // taken from the room at a time
constexpr std::uint64_t kReady = 10'000;  // milliseconds until a room has an owner
constexpr net::Millis kFarewell{2'000};   // for a client's own goodbye

net::WebSocket::Options socket_options(World& world, const Config& config) {
  net::WebSocket::Options options;
  options.limits.frame = config.rooms.max_frame.count;
  options.limits.message = config.rooms.max_message.count;
  options.memory = &world.memory;
  options.message_timeout = config.limits.body_timeout;
  options.min_message_rate = config.limits.min_body_rate.count;
  return options;
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
      socket_(ask.exchange, socket_options(desk.world, ask.snapshot->config)),
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

net::Task<Result<void>> RoomSocket::join() {
  Result<std::shared_ptr<Room>> joined;
  if (rooms_.cluster() == nullptr) {
    joined = rooms_.join(key_name_, join_.room, subscriber_, join_.last_seq);
  } else {
    joined = co_await join_shared();
  }
  if (!joined) co_return tl::unexpected(joined.error());
  room_ = std::move(*joined);
  voice_.emplace(desk_, room_, key_name_, ask_.exchange.peer());
  co_return Result<void>();
}

// Whose the room is, and what was said in it, the store and the other gateway know.
net::Task<Result<std::shared_ptr<Room>>> RoomSocket::join_shared() {
  auto entered = rooms_.enter(key_name_, join_.room, host_.loop);
  if (!entered) co_return tl::unexpected(entered.error());
  const std::shared_ptr<Room> room = entered->room;
  if (entered->made) {
    host_.loop.spawn(keep_room(desk_, *rooms_.cluster(), key_name_, room));
  }
  const std::uint64_t deadline = host_.loop.now() + kReady;
  while (!room->ready() && host_.loop.now() < deadline) co_await host_.loop.sleep(net::Millis(5));
  if (!room->ready()) {
    co_return fail(ErrorCode::unavailable,
                   "the gateway that has room \"" + join_.room + "\" cannot be reached");
  }
  if (!room->join(subscriber_, join_.last_seq)) {
    co_return tl::unexpected(
        Error{.code = ErrorCode::rate_limited,
              .message = "room \"" + join_.room + "\" has too many subscribers",
              .upstream_code = "too_many_subscribers"});
  }
  if (room->retired()) {  // forgotten in this moment
    room->leave(*subscriber_);
    co_return fail(ErrorCode::unavailable, "room \"" + join_.room + "\" was just closed");
  }
  co_return room;
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
  if (input.kind == RoomInput::Kind::user_message) {
    net::Headers unused;
    auto allowed = admit_address(host_.world, ask_, unused);
    if (!allowed) return allowed;
  }
  if (room_->seat() == nullptr) return voice_->say(std::move(input));
  if (input.id.empty()) input.id = host_.mint.mint("msg_");
  if (speaker_ == nullptr) {
    speaker_ =
        std::make_shared<RoomSpeaker>(desk_, room_, subscriber_, key_name_, ask_.exchange.peer());
  }
  return speaker_->say(speaker_, std::move(input));
}

void RoomSocket::tell_error(const Error& given, std::string_view reply_to) {
  const Error error = bounded(given);
  observe_refusal(host_.world, ask_, client::status_of(error), error);
  room_->tell(subscriber_,
              room_error_frame(client::find("openai_chat")->error_body(error), reply_to));
}

}  // namespace callgate::server
