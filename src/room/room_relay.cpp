#include "room/room_relay.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/url_query.h"
#include "client/protocol.h"
#include "json/reader.h"
#include "json/writer.h"
#include "net/client.h"
#include "room/room_cluster.h"
#include "room/room_keeper.h"
#include "room/room_speaker.h"
#include "room/room_voice.h"

namespace callgate::server {
namespace {

constexpr std::string_view kRelayPath = "/v1/relay/rooms/";
constexpr std::size_t kRelayedBytes = std::size_t{64} << 10;  // taken from the room at a time
constexpr net::Millis kSignOfLife{1'000};
constexpr std::size_t kLongestSaid = std::size_t{16} << 20;
constexpr std::size_t kLongestList = std::size_t{16} << 20;

bool is_gateway(const Rooms& rooms, const Ask& ask) {
  constexpr std::string_view kBearer = "Bearer ";
  const std::string_view given =
      ask.exchange.head().headers.find("authorization").value_or(std::string_view());
  return rooms.cluster() != nullptr && given.starts_with(kBearer) &&
         rooms.cluster()->opens(given.substr(kBearer.size()));
}

Error not_a_gateway() {
  return {.code = ErrorCode::forbidden,
          .message = "only gateways that share the store may ask this"};
}

struct RelayAsk {
  std::string key;
  std::string room;
  std::optional<std::uint64_t> last_seq;
};

std::optional<RelayAsk> read_relay(const net::RequestHead& head) {
  RelayAsk relay;
  relay.room = percent_decoded(head.path.substr(kRelayPath.size()));
  if (!is_room_name(relay.room)) return std::nullopt;
  for (const UrlParameter& parameter : read_url_query(head.query)) {
    const std::string& value = parameter.value;
    if (parameter.name == "key") relay.key = value;
    if (parameter.name != "last_seq") continue;
    const char* end = value.data() + value.size();
    const auto [at, fault] = std::from_chars(value.data(), end, relay.last_seq.emplace());
    if (fault != std::errc() || at != end) return std::nullopt;
  }
  return relay;
}

// The room that another gateway takes for ours; nullptr: it is not.
std::shared_ptr<Room> owned_room(const Desk& desk, Rooms& rooms, const Ask& ask) {
  const auto relay = read_relay(ask.exchange.head());
  if (!relay || desk.world.draining.load(std::memory_order_relaxed)) return nullptr;
  auto entered = rooms.enter(relay->key, relay->room, desk.loop);
  if (!entered) return nullptr;
  if (entered->made) desk.loop.spawn(keep_room(desk, *rooms.cluster(), relay->key, entered->room));
  return entered->room->owned() ? entered->room : nullptr;
}

// Frames as lines of JSON, which has line ends between its words at most.
void append_line(std::string& out, std::string_view json) {
  const std::size_t from = out.size();
  out.append(json);
  std::replace_if(
      out.begin() + static_cast<std::ptrdiff_t>(from), out.end(),
      [](char c) { return c == '\n' || c == '\r'; }, ' ');
  out += '\n';
}

class Relay {
 public:
  Relay(const Desk& desk, Ask& ask, std::shared_ptr<Room> room)
      : ask_(ask),
        room_(std::move(room)),
        subscriber_(std::make_shared<RoomSubscriber>(desk.loop)),
        wake_(desk.loop) {
    subscriber_->relay = true;
    subscriber_->wake = [this] {
      wake_.notify();
      // One that is too slow may have stopped reading.
      if (room_->state_of(*subscriber_) != RoomSubscriber::State::open) ask_.exchange.abort();
    };
  }
  ~Relay() {
    subscriber_->wake = nullptr;
    room_->leave(*subscriber_);
  }
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  net::Task<> run(std::optional<std::uint64_t> last_seq) {
    if (!room_->join(subscriber_, last_seq)) co_return;
    net::Headers headers = ask_.headers;
    headers.add("content-type", "application/x-ndjson");
    ask_.exchange.start(200, headers);
    std::string out = "{\"type\":\"resumed\"}\n";
    for (;;) {
      const Room::Mail mail = room_->take(*subscriber_, kRelayedBytes);
      for (const RoomFramePtr& frame : mail.frames) append_line(out, frame->json());
      if (mail.state != RoomSubscriber::State::open) break;
      if (!out.empty()) {
        const auto written = co_await ask_.exchange.write(out);
        if (!written) co_return;
        out.clear();
        continue;
      }
      const bool woken = co_await wake_.wait(kSignOfLife);
      if (!woken) out = "\n";
    }
    (void)co_await ask_.exchange.end(out);
  }

 private:
  Ask& ask_;
  const std::shared_ptr<Room> room_;
  const std::shared_ptr<RoomSubscriber> subscriber_;
  net::Signal wake_;
};

net::Task<> relay_frames(const Desk& desk, Rooms& rooms, Ask& ask) {
  const Error stranger = not_a_gateway();
  if (!is_gateway(rooms, ask)) co_return co_await desk.refuse(ask, stranger);
  const std::shared_ptr<Room> room = owned_room(desk, rooms, ask);
  const Error moved = room_moved();
  if (room == nullptr) co_return co_await desk.refuse(ask, moved);
  Relay relay(desk, ask, room);
  co_await relay.run(read_relay(ask.exchange.head())->last_seq);
}

net::Task<> relay_words(const Desk& desk, Rooms& rooms, Ask& ask) {
  const Error stranger = not_a_gateway();
  if (!is_gateway(rooms, ask)) co_return co_await desk.refuse(ask, stranger);
  const auto body = co_await ask.exchange.body(kLongestSaid);
  if (!body) co_return co_await desk.refuse(ask, body.error());
  auto relayed = read_relayed(*body);
  if (!relayed) co_return co_await desk.refuse(ask, relayed.error());
  ask.exchange.drop_body();
  const std::shared_ptr<Room> room = owned_room(desk, rooms, ask);
  const Error moved = room_moved();
  if (room == nullptr) co_return co_await desk.refuse(ask, moved);
  RoomVoice voice(desk, room, read_relay(ask.exchange.head())->key, relayed->peer);
  auto saying = voice.say_noted(std::move(relayed->input));
  const Result<void> said = co_await saying;
  if (!said) co_return co_await desk.refuse(ask, said.error());
  co_await respond_json(ask, 200, "{}");
}

net::Task<> relay_list(const Desk& desk, Rooms& rooms, Ask& ask) {
  const Error stranger = not_a_gateway();
  if (!is_gateway(rooms, ask)) co_return co_await desk.refuse(ask, stranger);
  const std::string body = write_listed(rooms.list());
  co_await respond_json(ask, 200, body);
}

net::Task<std::string> ask_list(net::HttpClient& client, store::RoomPeer peer) {
  const auto target = net::parse_url(peer.address);
  if (!target) co_return std::string();
  net::ClientRequest request{.method = "GET", .path = "/v1/relay/rooms", .headers = {}, .body = {}};
  request.headers.add("authorization", "Bearer " + peer.token);
  net::Timeouts timeouts;
  timeouts.connect = net::Millis(500);
  timeouts.total = net::Millis(2'000);
  net::ClientExchange exchange(client, *target, timeouts);
  const auto sent = co_await exchange.send(request);
  if (!sent || exchange.status() != 200) co_return std::string();
  auto body = co_await exchange.read_all(kLongestList);
  co_return body ? std::move(*body) : std::string();
}

Rooms::Listed read_row(json::Reader& in) {
  Rooms::Listed row;
  row.owned = false;
  for (std::string_view key; in.next_member(key);) {
    const std::string name(key);
    const json::Kind kind = in.peek();
    if (kind == json::Kind::string) {
      std::string value(in.string());
      if (name == "key")
        row.key = std::move(value);
      else if (name == "id")
        row.name = std::move(value);
      else if (name == "loop")
        row.sight.loop = std::move(value);
      else if (name == "model")
        row.sight.model = std::move(value);
    } else if (kind == json::Kind::number) {
      const auto value =
          static_cast<std::size_t>(std::max<std::int64_t>(0, in.integer().value_or(0)));
      if (name == "subscribers") row.sight.subscribers = value;
      if (name == "messages") row.sight.messages = value;
      if (name == "queued") row.sight.queued = value;
      if (name == "owned") row.owned = value == 1;
    } else {
      in.skip();
    }
  }
  return row;
}

}  // namespace

std::string write_listed(const std::vector<Rooms::Listed>& rooms) {
  std::string out = "[";
  for (const Rooms::Listed& room : rooms) {
    if (out.size() > 1) out += ',';
    json::ObjectWriter object(out);
    object.string("key", room.key);
    object.string("id", room.name);
    object.integer("owned", room.owned ? 1 : 0);
    object.integer("subscribers", static_cast<std::int64_t>(room.sight.subscribers));
    object.integer("messages", static_cast<std::int64_t>(room.sight.messages));
    object.integer("queued", static_cast<std::int64_t>(room.sight.queued));
    object.string("loop", room.sight.loop);
    object.string("model", room.sight.model);
    object.close();
  }
  return out += ']';
}

std::vector<Rooms::Listed> read_listed(std::string_view json) {
  std::vector<Rooms::Listed> rooms;
  json::Reader check(json);
  check.skip();
  json::Reader in(json);
  if (!check.finish() || in.peek() != json::Kind::array) return rooms;
  while (in.next_element()) {
    if (in.peek() != json::Kind::object) {
      in.skip();
      continue;
    }
    Rooms::Listed row = read_row(in);
    if (is_room_name(row.name)) rooms.push_back(std::move(row));
  }
  return rooms;
}

std::vector<Rooms::Listed> merge_listed(std::vector<Rooms::Listed> all) {
  std::stable_sort(all.begin(), all.end(), [](const Rooms::Listed& a, const Rooms::Listed& b) {
    return std::tie(a.key, a.name) < std::tie(b.key, b.name);
  });
  std::vector<Rooms::Listed> merged;
  for (Rooms::Listed& room : all) {
    const bool same =
        !merged.empty() && merged.back().key == room.key && merged.back().name == room.name;
    if (!same) {
      merged.push_back(std::move(room));
      continue;
    }
    const std::size_t subscribers = merged.back().sight.subscribers + room.sight.subscribers;
    if (room.owned) merged.back() = std::move(room);
    merged.back().sight.subscribers = subscribers;
  }
  return merged;
}

net::Task<std::vector<Rooms::Listed>> list_everywhere(const Desk& desk, Rooms& rooms) {
  std::vector<Rooms::Listed> all = rooms.list();
  RoomCluster* const cluster = rooms.cluster();
  if (cluster == nullptr) co_return all;
  auto asking = cluster->store().ask(
      desk.loop, "rooms", [](store::Sessions::Tables& tables) { return tables.rooms.others(); });
  const auto peers = co_await asking;
  if (!peers) co_return all;
  net::HttpClient client(desk.loop, {});
  for (const store::RoomPeer& peer : *peers) {
    auto listing = ask_list(client, peer);
    const std::string body = co_await listing;
    for (Rooms::Listed& room : read_listed(body)) all.push_back(std::move(room));
  }
  co_return merge_listed(std::move(all));
}

void add_relay_routes(Routes& routes, const Desk& desk, Rooms& rooms) {
  routes.add({"GET", "/v1/relay/rooms", Guard::open,
              [&](Ask& ask) { return relay_list(desk, rooms, ask); }});
  routes.add({"GET", "/v1/relay/rooms/*", Guard::open,
              [&](Ask& ask) { return relay_frames(desk, rooms, ask); }});
  routes.add({"POST", "/v1/relay/rooms/*", Guard::open,
              [&](Ask& ask) { return relay_words(desk, rooms, ask); }});
}

}  // namespace callgate::server
