// GET /metrics.
#pragma once

#include <string>

#include "room/rooms.h"
#include "turn/world.h"

namespace callgate::server {

// All metrics as text, after asking the store, the rooms and the exporter for theirs.
std::string render_metrics(World& world, Rooms& rooms);

}  // namespace callgate::server
