// Asks servers what they have, one after the other.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "callgate/result.h"
#include "config/config.h"
#include "upstream/model_list.h"

namespace callgate::cli {

// The models that an upstream over HTTP lists. The error says what it answered instead.
Result<std::vector<upstream::ServedModel>> probe_upstream(const server::UpstreamConfig& upstream,
                                                          server::Milliseconds time);

}  // namespace callgate::cli
