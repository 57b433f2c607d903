#include "room/rooms.h"

#include <algorithm>

#include "room/room_cluster.h"

namespace callgate::server {
namespace {

constexpr std::size_t kLongestName = 128;
constexpr std::chrono::seconds kSweepInterval{1};

// Numbers of a room that is made again, also after a restart, are greater than all before.
std::uint64_t first_seq() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

tl::unexpected<Error> full(std::string message, std::string code) {
  return tl::unexpected(Error{.code = ErrorCode::rate_limited,
                              .message = std::move(message),
                              .upstream_code = std::move(code)});
}

}  // namespace

bool is_room_name(std::string_view name) {
  constexpr std::string_view kAllowed =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:-";
  return !name.empty() && name.size() <= kLongestName &&
         name.find_first_not_of(kAllowed) == std::string_view::npos;
}

void Rooms::set_limits(const RoomsConfig& limits) {
  const std::lock_guard lock(mutex_);
  limits_ = limits;
}

Result<std::shared_ptr<Room>> Rooms::join(std::string_view key, std::string_view name,
                                          const std::shared_ptr<RoomSubscriber>& subscriber,
                                          std::optional<std::uint64_t> last_seq) {
  const std::lock_guard lock(mutex_);
  sweep(Clock::now());
  const std::pair<std::string, std::string> place{key, name};
  auto found = rooms_.find(place);
  if (found == rooms_.end()) {
    if (!make_place()) return full("there are too many rooms", "too_many_rooms");
    auto room = std::make_shared<Room>(place.second, limits_, first_seq(), counters_);
    found = rooms_.emplace(place, std::move(room)).first;
  }
  if (!found->second->join(subscriber, last_seq)) {
    return full("room \"" + place.second + "\" has too many subscribers", "too_many_subscribers");
  }
  return found->second;
}

RoomCluster* Rooms::cluster() const {
  return cluster_ != nullptr && cluster_->started() ? cluster_ : nullptr;
}

Result<Rooms::Entered> Rooms::enter(std::string_view key, std::string_view name, net::Loop& loop) {
  const std::lock_guard lock(mutex_);
  sweep(Clock::now());
  const std::pair<std::string, std::string> place{key, name};
  const auto found = rooms_.find(place);
  if (found != rooms_.end()) return Entered{found->second, false};
  if (!make_place()) return full("there are too many rooms", "too_many_rooms");
  auto room = std::make_shared<Room>(place.second, limits_, 0, counters_);
  room->take_seat(std::make_shared<RoomSeat>(loop));
  rooms_.emplace(place, room);
  return Entered{std::move(room), true};
}

std::shared_ptr<Room> Rooms::find(std::string_view key, std::string_view name) {
  const std::lock_guard lock(mutex_);
  const auto found = rooms_.find({std::string(key), std::string(name)});
  return found == rooms_.end() ? nullptr : found->second;
}

void Rooms::sweep(Clock::time_point now) {
  if (now - swept_ < std::min<Clock::duration>(kSweepInterval, limits_.idle_timeout)) return;
  swept_ = now;
  std::erase_if(rooms_, [&](const auto& entry) {
    const auto since = entry.second->empty_since();
    const bool forgotten = since && now - *since >= limits_.idle_timeout;
    if (forgotten) entry.second->retire();
    return forgotten;
  });
}

bool Rooms::make_place() {
  if (rooms_.size() < static_cast<std::size_t>(limits_.max_rooms)) return true;
  auto oldest = rooms_.end();
  Clock::time_point when = Clock::time_point::max();
  for (auto room = rooms_.begin(); room != rooms_.end(); ++room) {
    const auto since = room->second->empty_since();
    if (!since || *since >= when) continue;
    when = *since;
    oldest = room;
  }
  if (oldest == rooms_.end()) return false;
  oldest->second->retire();
  rooms_.erase(oldest);
  return true;
}

void Rooms::close_all() {
  const std::lock_guard lock(mutex_);
  for (const auto& [place, room] : rooms_) room->close_all();
}

std::vector<Rooms::Listed> Rooms::list() {
  const std::lock_guard lock(mutex_);
  sweep(Clock::now());
  std::vector<Listed> all;
  for (const auto& [place, room] : rooms_) {
    all.push_back({place.first, place.second, room->look(), room->owned()});
  }
  return all;
}

std::size_t Rooms::count() {
  const std::lock_guard lock(mutex_);
  sweep(Clock::now());
  return rooms_.size();
}

}  // namespace callgate::server
