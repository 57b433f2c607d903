// The rooms of gateways that share a PostgreSQL: how this gateway is known to the others, and how it hears that a room has a new
// owner. Any thread. docs/adr/0063 says how it fits together.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/secret.h"
#include "net/loop.h"
#include "net/task.h"
#include "store/rooms/notices.h"
#include "store/sessions.h"

namespace callgate::server {

// Where a room of this gateway waits to hear that something has changed.
struct RoomSeat {
  explicit RoomSeat(net::Loop& own_loop) : loop(own_loop), changed(own_loop) {}

  net::Loop& loop;
  net::Signal changed;                // loop thread only
  std::atomic<bool> doubted = false;  // another gateway may own the room by now

  // The owner that this gateway follows.
  store::RoomPeer owner() const {
    const std::lock_guard lock(mutex_);
    return owner_;
  }
  void set_owner(store::RoomPeer owner) {
    const std::lock_guard lock(mutex_);
    owner_ = std::move(owner);
  }

 private:
  mutable std::mutex mutex_;
  store::RoomPeer owner_;
};

class RoomCluster {
 public:
  // REQUIRES: the store is shared and outlives the cluster.
  explicit RoomCluster(store::Sessions& store);
  ~RoomCluster();

  // From now on other gateways reach this one at `address`.
  void start(std::string address);
  // Nothing is heard any more, and no loop is used. REQUIRES: loops do not run any more, or this gateway never started.
  void stop();
  bool started() const { return started_.load(); }

  store::Sessions& store() { return store_; }
  // Whether who says this is another gateway.
  bool opens(std::string_view token) const { return token_.matches(token); }
  // A name that no other holder of a lease has.
  std::string new_holder();

  // `room` is as room_lease() says it. The seat hears of it until it is gone.
  void sit(const std::string& room, const std::shared_ptr<RoomSeat>& seat);
  // This gateway has become its owner, or is not any more.
  void announce(const std::string& room);
  // Doubts seats whose lease is gone, now and then: words may be lost.
  net::Task<> patrol(net::Loop& loop);
  // Seats that own their rooms, for patrol().
  void set_owned(const std::string& room, bool owned);

 private:
  void hear(std::string_view word);
  void doubt(const std::shared_ptr<RoomSeat>& seat) const;

  store::Sessions& store_;
  const Secret token_;
  std::atomic<bool> started_ = false;
  std::mutex mutex_;
  IdMint mint_;
  struct Place {
    std::weak_ptr<RoomSeat> seat;
    bool owned = false;
  };
  std::map<std::string, Place, std::less<>> seats_;
  std::unique_ptr<store::Notices> notices_;
};

// The name of a room among the leases.
std::string room_lease(std::string_view key, std::string_view room);

}  // namespace callgate::server
