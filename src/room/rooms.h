// All rooms of the gateway. A room belongs to the key of those who join it: two keys never meet. Any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/memory_budget.h"
#include "callgate/result.h"
#include "config/config.h"
#include "room/room.h"

namespace callgate::server {

struct RoomCounters {
  MemoryBudget* memory =
      nullptr;  // what rooms keep is reserved from it; nullptr: nothing limits it
  std::atomic<std::int64_t> subscribers{0};
  std::atomic<std::uint64_t> dropped{0};
  std::atomic<std::uint64_t> frames{0};  // handed to subscribers
};

class RoomCluster;

class Rooms {
 public:
  // Before there are rooms.
  void set_memory(MemoryBudget& memory) { counters_.memory = &memory; }
  // For rooms that are made from now on.
  void set_limits(const RoomsConfig& limits);

  // The subscriber is in the room when this returns. `key` is empty on an open gateway.
  Result<std::shared_ptr<Room>> join(std::string_view key, std::string_view name,
                                     const std::shared_ptr<RoomSubscriber>& subscriber,
                                     std::optional<std::uint64_t> last_seq);
  // Where gateways share their rooms. Before there are rooms; nullptr, and that is the default: they do not.
  void set_cluster(RoomCluster* cluster) { cluster_ = cluster; }
  // nullptr: this gateway's rooms are its own.
  RoomCluster* cluster() const;
  struct Entered {
    std::shared_ptr<Room> room;
    bool made = false;  // its seat, on `loop`, is still empty
  };
  // The room, which another gateway may own. REQUIRES: there is a cluster.
  Result<Entered> enter(std::string_view key, std::string_view name, net::Loop& loop);
  // nullptr if it is not here.
  std::shared_ptr<Room> find(std::string_view key, std::string_view name);
  void close_all();
  std::size_t count();
  struct Listed {
    std::string key;
    std::string name;
    Room::Sight sight;
    bool owned = true;  // by this gateway
  };
  // By key and name.
  std::vector<Listed> list();
  const RoomCounters& counters() const { return counters_; }

 private:
  using Clock = std::chrono::steady_clock;
  // Forgets rooms that were empty for too long.
  void sweep(Clock::time_point now);
  bool make_place();

  RoomCluster* cluster_ = nullptr;
  std::mutex mutex_;
  RoomsConfig limits_;
  RoomCounters counters_;  // outlives the rooms
  std::map<std::pair<std::string, std::string>, std::shared_ptr<Room>> rooms_;
  Clock::time_point swept_{};
};

// 1 to 128 of [A-Za-z0-9._:-].
bool is_room_name(std::string_view name);

}  // namespace callgate::server
