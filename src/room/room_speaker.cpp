#include "room/room_speaker.h"

#include <utility>

#include "base/url_query.h"
#include "client/protocol.h"
#include "json/reader.h"
#include "json/writer.h"
#include "net/companion.h"
#include "room/room_cluster.h"
#include "turn/refusal.h"

namespace callgate::server {
namespace {

constexpr std::uint64_t kPatienceMs = 20'000;  // until there is an owner that hears
constexpr net::Millis kBeforeRetry{50};
constexpr std::size_t kLongestAnswer = std::size_t{64} << 10;

constexpr std::pair<std::string_view, RoomInput::Kind> kKinds[] = {
    {"user_message", RoomInput::Kind::user_message},
    {"cancel", RoomInput::Kind::cancel},
    {"inject", RoomInput::Kind::inject},
    {"approve", RoomInput::Kind::approve},
    {"deny", RoomInput::Kind::deny}};

std::string error_body(const Error& error) {
  return client::find("openai_chat")->error_body(bounded(error));
}

net::Timeouts say_timeouts() {
  net::Timeouts timeouts;
  timeouts.connect = net::Millis(1'000);
  timeouts.tls = net::Millis(2'000);
  // The owner may wait for its store.
  timeouts.first_byte = net::Millis(35'000);
  return timeouts;
}

}  // namespace

std::string room_error_frame(std::string_view body, std::string_view reply_to) {
  std::string json = "{\"type\":\"error\",";
  if (!reply_to.empty()) {
    json::append_string(json.append("\"reply_to\":"), reply_to);
    json += ',';
  }
  return json.append(body.substr(1));
}

std::string write_relayed(const RelayedInput& relayed) {
  std::string out;
  json::ObjectWriter object(out);
  for (const auto& [word, kind] : kKinds) {
    if (kind == relayed.input.kind) object.string("kind", word);
  }
  object.string("id", relayed.input.id);
  object.string("text", relayed.input.text);
  object.integer("run", relayed.input.run);
  object.string("body", relayed.input.body);
  object.string("peer", relayed.peer);
  object.close();
  return out;
}

Result<RelayedInput> read_relayed(std::string_view json) {
  const auto refused = fail(ErrorCode::invalid_request, "expected a message from another gateway");
  json::Reader check(json);
  check.skip();
  json::Reader in(json);
  if (!check.finish() || in.peek() != json::Kind::object) return refused;
  RelayedInput relayed;
  bool known = false;
  for (std::string_view key; in.next_member(key);) {
    const std::string name(key);
    if (name == "run" && in.peek() == json::Kind::number) {
      const std::int64_t run = in.integer().value_or(-1);
      if (run < 0 || run > UINT32_MAX) return refused;
      relayed.input.run = static_cast<loop::RunId>(run);
    } else if (in.peek() != json::Kind::string) {
      return refused;
    } else if (name == "kind") {
      const std::string word(in.string());
      for (const auto& [each, kind] : kKinds) {
        if (each != word) continue;
        relayed.input.kind = kind;
        known = true;
      }
    } else {
      std::string value(in.string());
      if (name == "id")
        relayed.input.id = std::move(value);
      else if (name == "text")
        relayed.input.text = std::move(value);
      else if (name == "body")
        relayed.input.body = std::move(value);
      else if (name == "peer")
        relayed.peer = std::move(value);
    }
  }
  if (!known) return refused;
  return relayed;
}

RoomSpeaker::RoomSpeaker(const Desk& desk, std::shared_ptr<Room> room,
                         std::shared_ptr<RoomSubscriber> subscriber, std::string key_name,
                         std::string peer)
    : desk_(desk),
      room_(std::move(room)),
      subscriber_(std::move(subscriber)),
      key_name_(std::move(key_name)),
      peer_(std::move(peer)),
      voice_(desk, room_, key_name_, peer_),
      client_(desk.loop, {}) {}

Result<void> RoomSpeaker::say(const std::shared_ptr<RoomSpeaker>& self, RoomInput input) {
  if (waiting_.size() >= static_cast<std::size_t>(desk_.snapshot->config.rooms.queue)) {
    return tl::unexpected(Error{.code = ErrorCode::rate_limited,
                                .message = "too many messages wait in this room",
                                .upstream_code = "room_queue_full"});
  }
  waiting_.push_back(std::move(input));
  if (!std::exchange(speaking_, true)) start(self);
  return {};
}

void RoomSpeaker::start(const std::shared_ptr<RoomSpeaker>& self) {
  self->desk_.loop.spawn(net::watched(speak(self), [self] { break_off(self); }));
}

// What waits goes on without the message that threw.
void RoomSpeaker::break_off(const std::shared_ptr<RoomSpeaker>& self) {
  const Error error{.code = ErrorCode::internal,
                    .message = "delivering the message broke off inside the gateway"};
  self->room_->tell(self->subscriber_, room_error_frame(error_body(error), self->speaking_of_));
  start(self);
}

net::Task<> RoomSpeaker::speak(std::shared_ptr<RoomSpeaker> self) {
  while (!self->waiting_.empty()) {
    RoomInput input = std::move(self->waiting_.front());
    self->waiting_.pop_front();
    self->speaking_of_ = input.id;
    auto delivering = self->deliver(std::move(input));
    co_await delivering;
  }
  self->speaking_ = false;
}

net::Task<> RoomSpeaker::deliver(RoomInput input) {
  const std::uint64_t deadline = desk_.loop.now() + kPatienceMs;
  for (;;) {
    std::optional<std::string> outcome;
    if (room_->owned()) {
      outcome = co_await try_here(input);
    } else {
      outcome = co_await try_owner(input);
    }
    const bool late = desk_.loop.now() >= deadline;
    if (!outcome && late) {
      const Error error{.code = ErrorCode::unavailable,
                        .message = "no gateway has this room now, say it again"};
      outcome = error_body(error);
    }
    if (outcome && !outcome->empty()) {
      room_->tell(subscriber_, room_error_frame(*outcome, input.id));
    }
    if (outcome) co_return;
    co_await desk_.loop.sleep(kBeforeRetry);
  }
}

net::Task<std::optional<std::string>> RoomSpeaker::try_here(const RoomInput& input) {
  auto saying = voice_.say_noted(input);
  const Result<void> said = co_await saying;
  if (said) co_return std::string();
  if (said.error().upstream_code == kRoomMoved) co_return std::nullopt;
  co_return error_body(said.error());
}

// Only a message may be said twice: its id says that it is the same.
net::Task<std::optional<std::string>> RoomSpeaker::try_owner(const RoomInput& input) {
  const store::RoomPeer owner = room_->seat()->owner();
  const auto target = net::parse_url(owner.address);
  if (!target) co_return std::nullopt;
  const std::string path =
      "/v1/relay/rooms/" + room_->name() + "?key=" + percent_encoded(key_name_);
  const std::string body = write_relayed({input, peer_});
  net::ClientRequest request{.method = "POST", .path = path, .headers = {}, .body = body};
  request.headers.add("authorization", "Bearer " + owner.token);
  request.headers.add("content-type", "application/json");
  net::ClientExchange exchange(client_, *target, say_timeouts());
  const auto sent = co_await exchange.send(request);
  const bool again = input.kind == RoomInput::Kind::user_message;
  if (!sent && again) co_return std::nullopt;
  if (!sent) co_return error_body(sent.error());
  auto answer = co_await exchange.read_all(kLongestAnswer);
  if (exchange.status() == 200) co_return std::string();
  const bool moved = exchange.status() == 409 || exchange.status() == 403;
  if (moved || ((!answer || !answer->starts_with('{')) && again)) co_return std::nullopt;
  if (!answer || !answer->starts_with('{')) {
    const Error error{.code = ErrorCode::unavailable, .message = "the room's owner is gone"};
    co_return error_body(error);
  }
  co_return std::move(*answer);
}

}  // namespace callgate::server
