// Keeps a room of gateways that share them: asks the store whose it is, owns it or follows its owner, for as long as it is
// remembered here.
#pragma once

#include <memory>
#include <string>

#include "front/desk.h"
#include "net/task.h"
#include "room/room.h"
#include "room/room_cluster.h"

namespace callgate::server {

// Until the room is retired. On the loop of its seat. REQUIRES: desk and cluster outlive the task.
net::Task<> keep_room(const Desk& desk, RoomCluster& cluster, std::string key,
                      std::shared_ptr<Room> room);

}  // namespace callgate::server
