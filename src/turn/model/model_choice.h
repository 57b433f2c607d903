// The model that a request gets: the one that it names, or the one that its model leaves titles and summaries to; and what that
// model's configuration objects to.
#pragma once

#include "callgate/request.h"
#include "callgate/result.h"
#include "turn/snapshot.h"

namespace callgate::server {

// `key` is nullptr on an open gateway.
Result<Snapshot::Model> choose_for(const Snapshot& snapshot, const KeyState* key,
                                   const Request& request);

}  // namespace callgate::server
