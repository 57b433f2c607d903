// The inspector: a page at `/` that shows what turns do, and the routes behind it. docs/inspector.md describes them.
//
//   GET /                    the page, for clients that ask for HTML; others get JSON as before
//   GET /inspector/*         its files
//   GET /v1/inspector        what the page needs to know of the gateway
//   GET /v1/live             rows of turns as they begin, go on and end, as server-sent events
//   GET /v1/live/ID          the anatomy of a turn that runs or ran recently
//   POST /v1/replay          bytes or a turn once more, in another dialect, cut anew, under other policies
//   POST /v1/parse           what every dialect makes of a text
//   GET /v1/smoke            the request of a smoke run, for the page to send
//   POST /v1/smoke           an answer to it, held to the rules of its protocol
#pragma once

#include "front/desk.h"
#include "front/routes.h"

namespace callgate::server {

// REQUIRES: the desk outlives the routes.
void add_inspector_routes(Routes& routes, Desk& desk);

}  // namespace callgate::server
