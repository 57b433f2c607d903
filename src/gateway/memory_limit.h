// How much memory the gateway takes for requests where the configuration does not say.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "config/config.h"

namespace callgate::server {

// limits.memory, or the usual limit.
std::uint64_t memory_limit(const LimitsConfig& limits);

// Half of what the process may have: of the machine's memory, or of its control group's limit if that is less.
std::uint64_t usual_memory_limit();

// The least limit of the group and those around it; 0: none. `membership` is /proc/self/cgroup, `root` where the groups are.
//   0::/system.slice/callgate.service
std::uint64_t control_group_limit(std::string_view membership, const std::string& root);

}  // namespace callgate::server
