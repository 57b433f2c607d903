// How a request walks the pool of its model.
#pragma once

#include <cstdint>

#include "dial/pool/board.h"
#include "dial/pool/walk.h"
#include "turn/turn_job.h"

namespace callgate::server {

// `skip_first`: whoever would be asked first has just failed.
PoolWalk make_walk(const TurnJob& job, const Request& request, std::uint64_t now, bool skip_first);

Board::Question make_question(const TurnJob& job, const Request& request);

// The hash of what belongs together, as the model's `balance` wants it; 0: the request belongs to nothing.
std::uint64_t affinity_of(const ModelConfig& model, const Request& request,
                          std::string_view session, std::string_view key);

}  // namespace callgate::server
