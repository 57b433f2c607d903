// Asks upstreams regularly: whether they are well, where `check` says how, and which models they have, where `models` wants
// some of them. One event loop does it for all.
#pragma once

#include <memory>

#include "config/config.h"
#include "dial/targets.h"
#include "net/loop.h"
#include "net/task.h"
#include "turn/snapshot.h"
#include "turn/world.h"

namespace callgate::server {

// Loop thread only, or before the loop runs.
class UpstreamWatch {
 public:
  // REQUIRES: all of it outlives the loop's tasks.
  UpstreamWatch(World& world, net::Loop& loop, const Targets& targets)
      : world_(world), loop_(loop), targets_(targets) {}
  ~UpstreamWatch() { stop(); }
  UpstreamWatch(const UpstreamWatch&) = delete;
  UpstreamWatch& operator=(const UpstreamWatch&) = delete;

  // These upstreams from now on, and no others.
  void use(std::shared_ptr<const Snapshot> snapshot);
  void stop();

 private:
  // What the tasks of one configuration share with their owner.
  struct Job {
    World& world;
    net::Loop& loop;
    const Targets& targets;
    std::shared_ptr<const Snapshot> snapshot;
    bool wanted = true;
  };
  static net::Task<> check(std::shared_ptr<Job> job, const UpstreamConfig& upstream);
  static net::Task<> list(std::shared_ptr<Job> job, const UpstreamConfig& upstream);

  World& world_;
  net::Loop& loop_;
  const Targets& targets_;
  std::shared_ptr<Job> job_;
};

}  // namespace callgate::server
