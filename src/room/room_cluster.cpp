#include "room/room_cluster.h"

#include <algorithm>
#include <random>
#include <utility>

#include "base/url_query.h"

namespace callgate::server {
namespace {

constexpr net::Millis kPatrol{2'000};
constexpr std::size_t kTokenLength = 43;  // of 62 characters: 256 bits

// From the system's own source: a seeded generator could be guessed.
std::string make_token() {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  std::random_device device;
  std::uniform_int_distribution<std::size_t> digit(0, kDigits.size() - 1);
  std::string token;
  for (std::size_t i = 0; i < kTokenLength; ++i) token += kDigits[digit(device)];
  return token;
}

}  // namespace

std::string room_lease(std::string_view key, std::string_view room) {
  return "room:" + percent_encoded(key) + "/" + std::string(room);
}

RoomCluster::RoomCluster(store::Sessions& store)
    : store_(store), token_(make_token()), mint_(std::random_device()()) {}

RoomCluster::~RoomCluster() { stop(); }

void RoomCluster::start(std::string address) {
  store_.set_address({.url = std::move(address), .token = token_.reveal()});
  notices_ =
      std::make_unique<store::Notices>(store_.url(), store::DatabaseOptions{}, "callgate_room",
                                       [this](std::string_view word) { hear(word); });
  started_ = true;
}

void RoomCluster::stop() { notices_.reset(); }

std::string RoomCluster::new_holder() {
  const std::lock_guard lock(mutex_);
  return mint_.mint("room_");
}

void RoomCluster::sit(const std::string& room, const std::shared_ptr<RoomSeat>& seat) {
  const std::lock_guard lock(mutex_);
  std::erase_if(seats_, [](const auto& place) { return place.second.seat.expired(); });
  seats_[room] = {seat, false};
}

void RoomCluster::set_owned(const std::string& room, bool owned) {
  const std::lock_guard lock(mutex_);
  if (const auto place = seats_.find(room); place != seats_.end()) place->second.owned = owned;
}

void RoomCluster::announce(const std::string& room) {
  if (notices_ != nullptr) notices_->send(store_.node() + " " + room);
}

void RoomCluster::doubt(const std::shared_ptr<RoomSeat>& seat) const {
  seat->doubted = true;
  seat->loop.post([seat] { seat->changed.notify(); });
}

// An empty word stands for words that were lost.
void RoomCluster::hear(std::string_view word) {
  const std::size_t space = std::min(word.find(' '), word.size());
  if (!word.empty() && word.substr(0, space) == store_.node()) return;
  const std::string_view room = word.substr(std::min(space + 1, word.size()));
  const std::lock_guard lock(mutex_);
  for (const auto& [name, place] : seats_) {
    if (!word.empty() && name != room) continue;
    if (const auto seat = place.seat.lock()) doubt(seat);
  }
}

net::Task<> RoomCluster::patrol(net::Loop& loop) {
  for (;;) {
    co_await loop.sleep(kPatrol);
    std::vector<std::string> owned;
    {
      const std::lock_guard lock(mutex_);
      for (const auto& [name, place] : seats_) {
        if (place.owned && !place.seat.expired()) owned.push_back(name);
      }
    }
    if (owned.empty()) continue;
    auto asking = store_.ask(loop, "rooms",
                             [](store::Sessions::Tables& tables) { return tables.rooms.held(); });
    auto held = co_await asking;
    if (!held) continue;
    std::sort(held->begin(), held->end());
    const std::lock_guard lock(mutex_);
    for (const std::string& name : owned) {
      if (std::binary_search(held->begin(), held->end(), name)) continue;
      const auto place = seats_.find(name);
      if (place == seats_.end()) continue;
      if (const auto seat = place->second.seat.lock()) doubt(seat);
    }
  }
}

}  // namespace callgate::server
