// Routes that show and change what the gateway remembers and runs. REQUIRES: the desk outlives the routes.
#pragma once

#include "front/desk.h"
#include "front/routes.h"

namespace callgate::server {

void add_log_routes(Routes& routes, Desk& desk);
void add_session_routes(Routes& routes, Desk& desk);
void add_loop_routes(Routes& routes, Desk& desk);
void add_conversation_routes(Routes& routes, Desk& desk);
void add_reload_route(Routes& routes, Desk& desk);
void add_tool_routes(Routes& routes, Desk& desk);
void add_upstream_routes(Routes& routes, Desk& desk);
void add_key_routes(Routes& routes, Desk& desk);

}  // namespace callgate::server
