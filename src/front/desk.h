// What the routes of a gateway share on one event loop, and how they answer.
//
//   net::Task<> show_thing(Desk& desk, Ask& ask) {
//     auto thing = co_await find_thing(desk.loop, ask.exchange.head().path);
//     if (!thing) co_return co_await desk.refuse(ask, thing.error());
//     co_await respond_json(ask, 200, print(*thing));
//   }
#pragma once

#include <memory>
#include <string_view>

#include "base/ids.h"
#include "callgate/error.h"
#include "net/loop.h"
#include "net/task.h"
#include "turn/ask.h"
#include "turn/turn_job.h"
#include "turn/world.h"

namespace callgate::server {

struct Desk {
  World& world;
  net::Loop& loop;
  IdMint& mint;
  const std::shared_ptr<const Snapshot>& snapshot;  // in force; follows reloads
  const Targets& targets;                           // of this event loop; follow reloads

  // What turns on this event loop use.
  TurnHost turn_host() const { return {world, loop, mint, targets}; }

  // Answers with an error in the client's protocol, and counts it. `status`: instead of the error's own;
  // 0: the error's own.
  net::Task<> refuse(Ask& ask, const Error& given, int status = 0) const;
};

net::Task<> respond_json(Ask& ask, int status, std::string_view body);

}  // namespace callgate::server
