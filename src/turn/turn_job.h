// What a turn is asked to do, and what it uses of the gateway that asks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/memory_budget.h"
#include "callgate/request.h"
#include "client/protocol.h"
#include "dial/targets.h"
#include "net/loop.h"
#include "recorder/capture.h"
#include "turn/loop_choice.h"
#include "turn/request_options.h"
#include "turn/snapshot.h"
#include "turn/world.h"

namespace callgate::server {

class TokenMeter;

// All of it outlives the turn. On the event loop's thread only, but for the world.
struct TurnHost {
  World& world;
  net::Loop& loop;
  IdMint& mint;
  const Targets& targets;  // a reload replaces what is in it
};

// By value: the client may leave before the turn ends.
struct TurnJob {
  std::shared_ptr<const Snapshot> snapshot;
  KeyRef key;  // nullptr on an open gateway
  std::string request_id;
  std::string answer_id;  // what the answer is called; empty: a name is minted
  std::string session;    // as the client names its conversation, may be empty
  std::string peer;
  std::uint64_t started_ms = 0;  // of the event loop's clock
  std::string received;          // the body, where the log keeps it
  std::size_t received_bytes = 0;
  const Protocol* protocol = nullptr;  // what the answer is written in
  std::string_view protocol_name;      // as the log calls it
  Reservation memory = {};             // what the turn holds
  Reservation copies = {};             // what is kept of it for the log
  Request request;
  Snapshot::Model model;  // of the snapshot
  DialectChoice dialect;
  RequestOptions options;
  bool keepalive = true;                   // a silent stream may have comments
  std::shared_ptr<TokenMeter> meter = {};  // nullptr: its key has no limits on tokens
  std::shared_ptr<Capture> capture;  // rounds may outlive the turn; nullptr: it is not captured

  // Before the body is decoded: the request and its form for the upstream are each about as large. False: there is no memory.
  bool reserve(MemoryBudget& budget, std::size_t body) {
    memory = Reservation(&budget, MemoryUse::need);
    copies = Reservation(&budget, MemoryUse::copy);
    return memory.grow_to(2 * body);
  }
  const ModelConfig& config() const { return *model.config; }
  std::string_view key_name() const {
    return key == nullptr ? std::string_view() : key->config.name;
  }
  std::string_view dialect_name() const {
    return dialect.dialect == nullptr ? "native" : dialect.dialect->name;
  }
};

// A turn whose tools the gateway may run.
struct LoopWork {
  TurnJob job;
  std::unique_ptr<LoopChoice> choice;  // nullptr: it runs none
};

}  // namespace callgate::server
