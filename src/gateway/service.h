// A gateway on all its event loops: listens, reloads, drains.
//
//   Service service(options, config, {.log = log, .metrics = metrics, .requests = requests});
//   service.handle_signals();
//   if (auto started = service.start(); !started) ...
//   service.join();
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "access/key_book.h"
#include "access/shared_limits.h"
#include "admin/query_pool.h"
#include "callgate/result.h"
#include "config/config.h"
#include "dial/targets.h"
#include "gateway/background_work.h"
#include "gateway/gateway.h"
#include "gateway/serve.h"
#include "net/loop.h"
#include "net/server.h"
#include "net/task.h"
#include "room/room_cluster.h"
#include "turn/snapshot.h"
#include "turn/world.h"

namespace callgate::server {

// What a service uses and does not own.
struct Surroundings {
  telemetry::Logger& log;
  telemetry::Metrics& metrics;
  store::RequestLog& requests;
  store::Sessions* sessions = nullptr;       // nullptr: none are stored
  telemetry::SpanExporter* spans = nullptr;  // nullptr: nothing is traced
  tool::ToolHost* tools = nullptr;           // nullptr: no tools, now or after reloads
};

class Service {
 public:
  // REQUIRES: check_config(config) holds; the surroundings outlive the service.
  Service(ServeOptions options, Config config, const Surroundings& around);
  // Ends at once: what is being answered is cut.
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  // Listens and serves, on threads of its own.
  Result<void> start();
  // Where it listens, with the ports that the system chose.
  const std::vector<net::Endpoint>& endpoints() const { return endpoints_; }
  // SIGHUP reloads, SIGTERM and SIGINT drain. Before start().
  void handle_signals();

  // Any thread. Reads the configuration again, on a thread of its own; a request while that runs is remembered. All
  // loops take the new one, or none does and the log says why.
  void reload() { reloads_.request(); }
  // The same; `tell` receives the outcome, on the thread that reloads. It is not called if the service ends first.
  void reload(std::function<void(const ReloadOutcome&)> tell);
  // Any thread. New requests are refused, and the service ends when those that run have ended or `drain_timeout` is over.
  // The second time it ends at once.
  void drain();
  // Waits for the end.
  void join() { loops_.join(); }

 private:
  // One loop with its gateway and its listeners.
  struct Worker {
    Worker(net::Loop& own_loop, World& world, Rooms& rooms, const Config& config);
    net::Loop& loop;
    Gateway gateway;
    net::HttpServer server;
    std::optional<Gateway::Prepared> prepared;  // of a reload; loop thread only
  };
  // What a reload brings, read and checked.
  struct Next {
    std::shared_ptr<const Snapshot> snapshot;
    std::shared_ptr<const UpstreamParts> parts;
    std::shared_ptr<const net::TlsContext> tls;  // nullptr: no listener speaks TLS
  };

  Result<void> listen(const Config& config);
  // Where other gateways can reach this one.
  void share_rooms();
  // Where the store and the limits are shared with other gateways.
  void use_sessions(store::Sessions* sessions, const Config& config);
  void use_limits(const Snapshot& snapshot);
  Access make_access(const Config& config, const Access* before) const;

  void reload_now();
  ReloadOutcome reload_and_log();
  Result<Next> load_next();
  Result<void> try_reload();
  Result<void> prepare_all(const Next& next);
  void use(const Next& next);
  // Runs `work` for every worker on its loop, and waits. False: the loops end, and some did not run it.
  bool on_all_loops(const std::function<void(Worker&)>& work);

  void drain_or_stop();
  net::Task<> wait_for_streams();
  void stop();
  std::shared_ptr<const Snapshot> snapshot() const;

  const ServeOptions options_;
  telemetry::Logger& log_;
  World world_;
  Rooms rooms_;
  std::unique_ptr<KeyBook> stored_keys_;         // nullptr without a store
  std::unique_ptr<SharedLimits> shared_limits_;  // nullptr without a store
  std::unique_ptr<RoomCluster> room_cluster_;    // nullptr: rooms are this gateway's own
  net::LoopGroup loops_;
  QueryPool queries_;  // goes before the loops that it posts to
  std::vector<std::unique_ptr<Worker>> workers_;
  const Config started_with_;
  std::vector<net::Endpoint> endpoints_;

  mutable std::mutex mutex_;  // of the three below
  std::shared_ptr<const Snapshot> snapshot_;
  bool stopped_ = false;
  std::vector<std::function<void(const ReloadOutcome&)>> tell_reloaded_;
  std::condition_variable changed_;

  std::shared_ptr<const UpstreamParts> parts_;  // of the thread that reloads, once started
  BackgroundWork reloads_{[this] { reload_now(); }};
};

}  // namespace callgate::server
