// One request on its way through the gateway.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/memory_budget.h"
#include "client/protocol.h"
#include "net/server.h"
#include "recorder/capture.h"
#include "turn/snapshot.h"

namespace callgate::server {

struct Ask {
  net::Exchange& exchange;
  std::shared_ptr<const Snapshot> snapshot;
  const Protocol* protocol =
      nullptr;  // what it speaks, by its path; every answer to it does as well
  std::string id;
  KeyRef key;            // nullptr on an open gateway
  KeyRef address;        // counters of the client's address; nullptr: it has no limits
  net::Headers headers;  // of the answer, whatever it will be
  std::uint64_t started_ms = 0;
  std::unique_ptr<Capture> capture;  // nullptr: it is not captured
  Reservation memory;                // what becomes of its body; a turn has its own
};

}  // namespace callgate::server
