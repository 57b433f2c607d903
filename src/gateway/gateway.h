// The gateway on one event loop: routes requests, authenticates callers, and answers.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/ids.h"
#include "callgate/result.h"
#include "dial/targets.h"
#include "front/desk.h"
#include "front/routes.h"
#include "gateway/passthrough.h"
#include "gateway/upstream_watch.h"
#include "net/loop.h"
#include "net/server.h"
#include "net/task.h"
#include "room/rooms.h"
#include "turn/ask.h"
#include "turn/snapshot.h"
#include "turn/world.h"

namespace callgate::server {

struct LoopWork;

// The parts of all upstreams for the gateways of this world; see dial/targets.h.
Result<std::shared_ptr<const UpstreamParts>> load_parts(World& world, const Config& config,
                                                        const UpstreamParts* before);

class Gateway {
 public:
  // REQUIRES: the world and the rooms outlive the gateway.
  Gateway(World& world, Rooms& rooms, net::Loop& loop, std::uint64_t id_seed);

  // Puts a configuration in force for requests from now on, in two steps, so that several gateways change together or
  // not at all: prepare() fails without changing anything, use() cannot fail. Both on the loop, or before it runs.
  struct Prepared {
    std::shared_ptr<const Snapshot> snapshot;
    Targets::Prepared targets;
  };
  Result<Prepared> prepare(std::shared_ptr<const Snapshot> snapshot, const UpstreamParts& parts);
  void use(Prepared prepared) noexcept;
  // All at once, for a gateway that is alone.
  Result<void> apply(std::shared_ptr<const Snapshot> snapshot);

  // This gateway asks the upstreams on behalf of all; before the first use().
  void watch_upstreams() { watch_ = std::make_unique<UpstreamWatch>(world_, loop_, targets_); }

  net::Task<> answer(net::Exchange& exchange);

  const Desk& desk() const { return desk_; }

 private:
  void add_endpoint(const Endpoint& endpoint);
  net::Task<> answer_turn(Ask& ask);
  Result<std::unique_ptr<LoopWork>> read_turn(Ask& ask, std::string_view body);
  // A frame of its own: a stream without a loop has no room for one.
  net::Task<> run_loop(Ask& ask, std::unique_ptr<LoopWork> work);
  net::Task<> list_models(Ask& ask);
  net::Task<> count_tokens(Ask& ask);
  net::Task<> show_model(Ask& ask);
  // The model that a request for one asks for.
  net::Task<Result<std::string>> named_model(Ask& ask);
  net::Task<> livez(Ask& ask);
  net::Task<> openapi(Ask& ask);
  net::Task<> readyz(Ask& ask);
  net::Task<> metrics(Ask& ask);
  net::Task<> preflight(Ask& ask);

  net::Task<> refuse(Ask& ask, const Error& error, int status = 0) {
    return desk_.refuse(ask, error, status);
  }
  Result<void> admit(Ask& ask, const Route& route);
  Result<void> find_key(Ask& ask);
  // Whether the request, on a route that is open, comes from someone who may see what admins see.
  bool is_operator(Ask& ask);
  void add_cors(Ask& ask);
  // Captures the request if that is configured or asked for, and briefly where its content is `logged` anyway: what the client of a
  // tool loop gets cannot be replayed, so it is kept if somebody watches. `body` is as received.
  Result<void> begin_capture(Ask& ask, std::string_view model, std::string_view body, bool logged,
                             bool loop);

  World& world_;
  Rooms& rooms_;
  net::Loop& loop_;
  IdMint mint_;
  std::shared_ptr<const Snapshot> snapshot_;
  Targets targets_;
  Desk desk_{world_, loop_, mint_, snapshot_, targets_};
  Routes routes_;
  const Route passthrough_{"*", "/v1/*", Guard::model,
                           [this](Ask& ask) { return pass_through(desk_, ask); }};
  std::unique_ptr<UpstreamWatch> watch_;  // nullptr: another gateway does it
};

}  // namespace callgate::server
