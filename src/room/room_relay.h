// What gateways that share rooms ask each other, at /v1/relay/rooms. The word that opens these routes is in the store that they
// share, and another one each time that a gateway starts.
#pragma once

#include <vector>

#include "front/desk.h"
#include "front/routes.h"
#include "net/task.h"
#include "room/rooms.h"

namespace callgate::server {

// REQUIRES: desk and rooms outlive the routes.
void add_relay_routes(Routes& routes, const Desk& desk, Rooms& rooms);

// The rooms of all gateways that answer: subscribers are added up, the rest is as the owner says. By key and name.
net::Task<std::vector<Rooms::Listed>> list_everywhere(const Desk& desk, Rooms& rooms);

std::string write_listed(const std::vector<Rooms::Listed>& rooms);
// What is wrong is left out.
std::vector<Rooms::Listed> read_listed(std::string_view json);
std::vector<Rooms::Listed> merge_listed(std::vector<Rooms::Listed> all);

}  // namespace callgate::server
