// The secrets of a configuration, for whatever must not show them: captures, logs, the request log.
#pragma once

#include <string>
#include <vector>

#include "config/config.h"

namespace callgate::server {

// The secrets of keys and upstreams, and whatever is long enough to be one in the extra headers and environments of
// upstreams, telemetry, tools and hooks, and in URLs.
std::vector<std::string> secrets_of(const Config& config);

}  // namespace callgate::server
