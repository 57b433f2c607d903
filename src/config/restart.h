// Which changes of a configuration a running gateway cannot take up.
#pragma once

#include <string>
#include <vector>

#include "config/config.h"

namespace callgate::server {

// The keys that differ and need a restart, as the file names them: `threads`, `store.url`. `tls` stands for TLS that is
// switched on or off; other certificates need no restart.
std::vector<std::string> changes_for_restart(const Config& running, const Config& wanted);

}  // namespace callgate::server
