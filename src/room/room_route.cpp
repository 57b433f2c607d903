// GET /v1/rooms lists the rooms, GET /v1/rooms/{room} joins one over WebSocket.
#include <charconv>

#include "base/quoted.h"
#include "base/url_query.h"
#include "front/admission.h"
#include "json/writer.h"
#include "room/room_relay.h"
#include "room/room_socket.h"

namespace callgate::server {
namespace {

constexpr std::string_view kPrefix = "/v1/rooms/";
constexpr std::string_view kOfferedKey = "callgate-key.";

tl::unexpected<Error> refuse(std::string_view name, std::string_view what) {
  return fail(ErrorCode::invalid_request, shortened(name) + ": " + std::string(what),
              shortened(name));
}

}  // namespace

Result<RoomJoin> read_room_join(std::string_view path, std::string_view query) {
  RoomJoin join;
  join.room = percent_decoded(path.substr(kPrefix.size()));
  if (!is_room_name(join.room)) return refuse("room", "expected 1 to 128 of [A-Za-z0-9._:-]");
  for (const UrlParameter& parameter : read_url_query(query)) {
    const std::string& value = parameter.value;
    if (parameter.name == "model") {
      join.model = value;
    } else if (parameter.name == "conversation") {
      join.conversation = value;
    } else if (parameter.name == "last_seq") {
      const char* end = value.data() + value.size();
      const auto [at, fault] = std::from_chars(value.data(), end, join.last_seq.emplace());
      if (fault != std::errc() || at != end || value.empty()) {
        return refuse("last_seq", "expected a number");
      }
    } else if (parameter.name == "split") {
      if (value != "sentences") return refuse("split", "expected sentences");
      join.sentences = true;
    } else if (parameter.name == "token" || parameter.name == "key") {
      return refuse(parameter.name,
                    "keys do not belong into URLs; send a header or the subprotocol "
                    "callgate-key.KEY");
    } else {
      return refuse(parameter.name, "not known; expected model, conversation, last_seq or split");
    }
  }
  return join;
}

std::string offered_key(const net::Headers& headers) {
  std::string_view offers = headers.find("sec-websocket-protocol").value_or("");
  while (!offers.empty()) {
    const std::size_t comma = std::min(offers.find(','), offers.size());
    std::string_view offer = offers.substr(0, comma);
    offers.remove_prefix(std::min(comma + 1, offers.size()));
    while (!offer.empty() && offer.front() == ' ') offer.remove_prefix(1);
    while (!offer.empty() && offer.back() == ' ') offer.remove_suffix(1);
    if (offer.starts_with(kOfferedKey)) return percent_decoded(offer.substr(kOfferedKey.size()));
  }
  return {};
}

namespace {

void append_room(std::string& out, const Rooms::Listed& room) {
  json::ObjectWriter object(out);
  object.string("id", room.name);
  object.string("object", "room");
  room.key.empty() ? object.null("key") : object.string("key", room.key);
  object.integer("subscribers", static_cast<std::int64_t>(room.sight.subscribers));
  object.integer("messages", static_cast<std::int64_t>(room.sight.messages));
  object.integer("queued", static_cast<std::int64_t>(room.sight.queued));
  room.sight.loop.empty() ? object.null("loop") : object.string("loop", room.sight.loop);
  room.sight.model.empty() ? object.null("model") : object.string("model", room.sight.model);
  object.close();
}

// A key sees its own; on an open gateway, or with an admin's key, all are seen.
net::Task<> list_rooms(const Desk& desk, Rooms& rooms, Ask& ask) {
  const bool sees_all = ask.key == nullptr || ask.key->config.admin;
  const std::vector<Rooms::Listed> listed = co_await list_everywhere(desk, rooms);
  std::string rows;
  for (const Rooms::Listed& room : listed) {
    if (!sees_all && room.key != ask.key->config.name) continue;
    rows += rows.empty() ? "" : ",";
    append_room(rows, room);
  }
  ask.headers.add("cache-control", "no-store");
  const std::string body = R"({"object":"list","data":[)" + rows + "]}";
  co_await respond_json(ask, 200, body);
}

net::Task<> join_room(const Desk& desk, Rooms& rooms, Ask& ask) {
  const net::RequestHead& head = ask.exchange.head();
  if (const auto fault = net::check_handshake(head); fault) {
    if (fault->status == 426) {
      ask.headers.add("upgrade", "websocket");
      ask.headers.add("sec-websocket-version", "13");
    }
    const Error error{.code = ErrorCode::invalid_request, .message = std::string(fault->message)};
    co_return co_await desk.refuse(ask, error, fault->status);
  }
  if (desk.world.draining.load(std::memory_order_relaxed)) {
    const Error error{.code = ErrorCode::unavailable,
                      .message = "the gateway is shutting down",
                      .retry_after = "5"};
    co_return co_await desk.refuse(ask, error);
  }
  auto join = read_room_join(head.path, head.query);
  if (!join) co_return co_await desk.refuse(ask, join.error());
  if (!join->model.empty()) {
    const auto model = ask.snapshot->choose_model(ask.key, join->model);
    if (!model) co_return co_await desk.refuse(ask, model.error());
  }
  RoomSocket socket(desk, rooms, ask, std::move(*join));
  const auto joined = co_await socket.join();
  if (!joined) co_return co_await desk.refuse(ask, joined.error());
  co_await socket.run();
}

}  // namespace

void add_room_routes(Routes& routes, const Desk& desk, Rooms& rooms) {
  routes.add(
      {"GET", "/v1/rooms", Guard::key, [&](Ask& ask) { return list_rooms(desk, rooms, ask); }});
  routes.add(
      {"GET", "/v1/rooms/*", Guard::key, [&](Ask& ask) { return join_room(desk, rooms, ask); }});
  add_relay_routes(routes, desk, rooms);
}

}  // namespace callgate::server
