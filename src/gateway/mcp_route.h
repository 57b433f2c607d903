// POST, GET and DELETE /mcp: the gateway's tools for other MCP clients.
#pragma once

#include "front/desk.h"
#include "front/routes.h"

namespace callgate::server {

// REQUIRES: the desk outlives the routes.
void add_mcp_routes(Routes& routes, Desk& desk);

}  // namespace callgate::server
