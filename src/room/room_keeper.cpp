#include "room/room_keeper.h"

#include <utility>

#include "base/url_query.h"
#include "net/client.h"
#include "room/room_book.h"
#include "room/room_heritage.h"
#include "room/room_tenure.h"
#include "room/room_voice.h"
#include "sse/decoder.h"

namespace callgate::server {
namespace {

// Tasks whose arguments have destructors get a name before they are awaited: g++ 12 destroys such temporaries twice.

constexpr net::Millis kLook{1'000};  // for rooms that were forgotten
constexpr std::size_t kLongestLine = std::size_t{64} << 20;

net::Timeouts link_timeouts() {
  net::Timeouts timeouts;
  timeouts.connect = net::Millis(1'000);
  timeouts.tls = net::Millis(2'000);
  timeouts.first_byte = net::Millis(3'000);
  timeouts.idle = net::Millis(3'000);  // an owner that lives says something every second
  return timeouts;
}

class Keeper {
 public:
  Keeper(const Desk& desk, RoomCluster& cluster, std::string key, std::shared_ptr<Room> room)
      : desk_(desk),
        cluster_(cluster),
        key_(std::move(key)),
        room_(std::move(room)),
        seat_(room_->seat()),
        lease_(room_lease(key_, room_->name())),
        holder_(cluster.new_holder()),
        client_(desk.loop, {}) {}

  net::Task<> run() {
    cluster_.sit(lease_, seat_);
    RoomTenure::Action action = RoomTenure::begin();
    while (!room_->retired()) {
      if (const auto* claim = std::get_if<RoomTenure::Claim>(&action)) {
        if (claim->after.count() > 0) (void)co_await seat_->changed.wait(claim->after);
        const bool answered = co_await ask_store();
        action = tenure_.on_claim(answered ? &claim_ : nullptr);
      } else if (const auto* follow = std::get_if<RoomTenure::Follow>(&action)) {
        auto following = follow_owner(follow->owner);
        const bool heard = co_await following;
        action = tenure_.on_link_ended(heard);
      } else {
        co_await own();
        action = RoomTenure::on_lost();
      }
    }
  }

 private:
  net::Task<bool> ask_store() {
    seat_->doubted = false;
    auto asking = cluster_.store().ask(
        desk_.loop, lease_, [room = lease_, holder = holder_](store::Sessions::Tables& tables) {
          return tables.rooms.claim(room, holder);
        });
    auto claimed = co_await asking;
    if (claimed) claim_ = std::move(*claimed);
    co_return claimed.has_value();
  }

  net::Task<> own() {
    RoomHeritage heritage = inherit(std::move(claim_));
    const auto book = std::make_shared<RoomBook>(cluster_.store(), lease_, holder_,
                                                 desk_.snapshot->config.rooms.max_messages);
    if (heritage.broken) {
      auto noting = book->end(desk_.loop, heritage.broken->message, heritage.broken->seq, "");
      const bool noted = co_await noting;
      if (!noted) co_return;
    }
    seat_->set_owner({});
    cluster_.set_owned(lease_, true);
    room_->own(heritage, book);
    cluster_.announce(lease_);
    for (const store::RoomMessage& message : heritage.waiting) {
      RoomVoice(desk_, room_, key_, message.peer).adopt(message);
    }
    co_await stay_owner(*book);
    if (room_->retired() && !book->lost()) {
      book->forget();
      co_return;
    }
    co_await step_down();
  }

  net::Task<> stay_owner(RoomBook& book) {
    while (!book.lost() && !room_->retired()) {
      (void)co_await seat_->changed.wait(kLook);
      if (!seat_->doubted) continue;
      const bool answered = co_await ask_store();
      if (answered && !claim_.mine) book.lose();
    }
  }

  // What ran here must be over before frames of the next owner come.
  net::Task<> step_down() {
    cluster_.set_owned(lease_, false);
    const std::string loop = room_->disown();
    room_->close_relays();
    if (!loop.empty()) (void)desk_.world.loops.steer(loop, nullptr, LoopCommand{});
    while (room_->busy()) co_await desk_.loop.sleep(RoomTenure::kShortest);
  }

  // True: it has said something.
  net::Task<bool> follow_owner(store::RoomPeer owner) {
    const auto target = net::parse_url(owner.address);
    if (!target) co_return false;
    seat_->set_owner(owner);
    const std::uint64_t last = room_->last_seq();
    std::string path = "/v1/relay/rooms/" + room_->name() + "?key=" + percent_encoded(key_);
    if (last != 0) path += "&last_seq=" + std::to_string(last);
    net::ClientRequest request{.method = "GET", .path = path, .headers = {}, .body = {}};
    request.headers.add("authorization", "Bearer " + owner.token);
    net::ClientExchange exchange(client_, *target, link_timeouts());
    const auto sent = co_await exchange.send(request);
    if (!sent || exchange.status() != 200) co_return false;
    bool heard = false;
    bool sound = true;
    LineDecoder lines(kLongestLine);
    while (sound && !room_->retired()) {
      const auto piece = co_await exchange.read(kLook);
      if (piece && piece->waiting) continue;
      if (!piece || piece->bytes.empty()) break;
      lines.push(piece->bytes, [&](const SseFrame& line) {
        heard = true;
        sound = sound && room_->follow(line.data);
      });
      sound = sound && !lines.overflowed();
    }
    co_return heard;
  }

  const Desk& desk_;
  RoomCluster& cluster_;
  const std::string key_;
  const std::shared_ptr<Room> room_;
  const std::shared_ptr<RoomSeat> seat_;
  const std::string lease_;
  const std::string holder_;
  net::HttpClient client_;
  RoomTenure tenure_;
  store::RoomClaim claim_;
};

}  // namespace

net::Task<> keep_room(const Desk& desk, RoomCluster& cluster, std::string key,
                      std::shared_ptr<Room> room) {
  Keeper keeper(desk, cluster, std::move(key), std::move(room));
  co_await keeper.run();
}

}  // namespace callgate::server
