// GET /metrics.
#pragma once

#include <cstdint>
#include <string>

#include "room/rooms.h"
#include "turn/world.h"

namespace callgate::server {

// All metrics as text, after asking the store, the rooms, the pools and the exporter for theirs. `now` is the event loop's.
std::string render_metrics(World& world, Rooms& rooms, std::uint64_t now);

}  // namespace callgate::server
