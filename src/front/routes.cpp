#include "front/routes.h"

#include <algorithm>

#include "base/path_pattern.h"
#include "base/quoted.h"

namespace callgate::server {

Result<const Route*> Routes::find(std::string_view method, std::string_view path,
                                  std::string& allow) const {
  std::vector<std::string_view> methods;
  for (const Route& route : routes_) {
    if (!path_matches(route.path, path)) continue;
    if (route.method == method || (method == "HEAD" && route.method == "GET")) return &route;
    const bool told = std::find(methods.begin(), methods.end(), route.method) != methods.end();
    if (route.method != "OPTIONS" && !told) methods.push_back(route.method);
  }
  if (!methods.empty()) {
    for (const std::string_view known : methods) {
      allow.append(known).append(known == "GET" ? ", HEAD, " : ", ");
    }
    allow += "OPTIONS";
    return fail(ErrorCode::not_allowed, shortened(method) + " is not allowed here, use " + allow);
  }
  std::string known;
  for (const Route& route : routes_) {
    if (route.guard == Guard::open && route.path.size() < 3) continue;
    known.append(known.empty() ? "" : ", ").append(route.method).append(" ").append(route.path);
  }
  return tl::unexpected(
      Error{.code = ErrorCode::not_found,
            .message = "there is no " + shortened(path) + "; known paths: " + known,
            .upstream_code = "unknown_url"});
}

}  // namespace callgate::server
