// Members of a request that nobody beyond the gateway gets to see.
//
//   without_members(R"({"user":"ann","metadata":{"id":1,"run":2}})", {"user", "metadata.id"})  ->  {"metadata":{"run":2}}
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "callgate/request.h"

namespace callgate {

// The object without those members; a dot leads into an object. Any other text stays as it is.
std::string without_members(std::string_view object, std::span<const std::string> paths);

// The same of a request's own fields.
void scrub_request(Request& request, std::span<const std::string> paths);

}  // namespace callgate
