// The paths that a gateway answers. The module that owns a path adds it:
//
//   void add_thing_routes(Routes& routes, Desk& desk) {
//     routes.add({"GET", "/v1/things/*", Guard::admin, [&desk](Ask& ask) { return show_thing(desk, ask); }});
//   }
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "callgate/result.h"
#include "net/task.h"
#include "turn/ask.h"

namespace callgate::server {

enum class Guard : std::uint8_t {
  open,     // anybody, also any page in a browser
  metrics,  // whom `metrics` lets in
  key,      // a key, where the gateway has keys
  model,    // a key, and what a turn needs: its rate limit, a gateway that is not draining
  admin,    // an admin's key, or a gateway that only this machine can reach
};

struct Route {
  std::string_view method;
  std::string_view path;  // a pattern of base/path_pattern.h
  Guard guard = Guard::open;
  // REQUIRES: it returns a coroutine that does not use the function object itself.
  std::function<net::Task<>(Ask&)> answer;
};

class Routes {
 public:
  void add(Route route) { routes_.push_back(std::move(route)); }
  const std::vector<Route>& all() const { return routes_; }

  // The first that matches; HEAD matches GET. Fails with not_allowed, or with not_found and the paths there are. `allow` is
  // set where the path exists for other methods only.
  Result<const Route*> find(std::string_view method, std::string_view path,
                            std::string& allow) const;

 private:
  std::vector<Route> routes_;
};

}  // namespace callgate::server
