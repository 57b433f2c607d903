// The paths of responses: POST /v1/responses and what can be asked of a response afterwards; GET /v1/responses is the same over
// WebSocket (response_socket.h).
#pragma once

#include "front/desk.h"
#include "front/routes.h"
#include "response/response_desk.h"

namespace callgate::server {

// REQUIRES: the desk outlives the routes. Before the routes of the protocols, whose POST /v1/responses keeps nothing.
void add_response_routes(Routes& routes, const Desk& desk, ReadTurn read_turn);

}  // namespace callgate::server
