// The page and its files. Anybody may load them: they show nothing before somebody gives an admin's key.
#pragma once

#include "front/desk.h"
#include "front/routes.h"

namespace callgate::server {

// REQUIRES: the desk outlives the routes.
void add_page_routes(Routes& routes, Desk& desk);

}  // namespace callgate::server
