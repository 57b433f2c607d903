// The tokens of a request, counted by an upstream that can.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "net/task.h"
#include "turn/turn_job.h"

namespace callgate::server {

// On an answer whose count nobody counted.
inline constexpr std::string_view kEstimatedHeader = "x-callgate-usage";

// Asks the model's first upstream. Nothing: its wire format has no such question, or it did not answer it.
// REQUIRES: all of them outlive the task.
net::Task<std::optional<std::int64_t>> ask_count(const TurnHost& host, const Snapshot& snapshot,
                                                 const Snapshot::Model& model,
                                                 const Request& request);

}  // namespace callgate::server
