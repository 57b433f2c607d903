// A copy of a client's request, sent to an upstream that is left out of its pool, to find out whether it is well again. The
// client's own request is elsewhere, and nobody waits for the copy: it ends with the first word of its answer, or with the whole
// of it where the upstream broke answers off.
#pragma once

#include <memory>

#include "base/memory_budget.h"
#include "callgate/request.h"
#include "dial/pool/board.h"
#include "dial/upstream_call.h"
#include "net/loop.h"
#include "net/task.h"
#include "turn/snapshot.h"
#include "turn/world.h"

namespace callgate::server {

struct PoolCopy {
  Board::Copy trial;
  std::shared_ptr<const Snapshot> snapshot;
  std::shared_ptr<const ModelConfig> own_model;  // of a model without a table
  const ModelConfig* model = nullptr;        // of the snapshot
  const UpstreamConfig* upstream = nullptr;  // of the snapshot
  std::shared_ptr<UpstreamTarget> target;
  Request request;
  UpstreamRequest encoded;
  Reservation memory;
};

net::Task<> send_copy(World& world, net::Loop& loop, std::unique_ptr<PoolCopy> copy);

}  // namespace callgate::server
