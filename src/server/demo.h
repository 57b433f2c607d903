// The embedded demo: an upstream inside the process and models that need no configuration.
#pragma once

#include <string>

#include "server/config.h"

namespace callgate::server {

void add_demo(Config& config);

// A command that streams a tool call from the gateway at that address.
std::string demo_curl(std::string_view base_url);

}  // namespace callgate::server
