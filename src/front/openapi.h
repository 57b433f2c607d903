// The gateway's routes as an OpenAPI 3.1 description, for `GET /openapi.json`. It is made from the table of routes, so that it
// names every path that is answered and no other; the words for each are in a table of their own.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "front/routes.h"

namespace callgate::server {

// What a route does, in a sentence; empty if it has no description.
std::string_view summary_of(const Route& route);

// A JSON text. Routes that exist for every path, such as OPTIONS, are left out.
std::string print_openapi(std::span<const Route> routes);

}  // namespace callgate::server
