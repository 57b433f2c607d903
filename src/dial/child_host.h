// ChildHost: conducts conversations with child programs on a thread of its own, for the clients of all loops: what one
// loop's client began, a client on another loop may go on with.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>

#include "base/keyed_hash.h"
#include "config/config.h"
#include "dial/answer_lane.h"
#include "dial/child_prompt.h"
#include "dial/rpc_child.h"
#include "net/loop.h"

namespace callgate::server {

// What a host does, on its loop.
class Conductor {
 public:
  virtual ~Conductor() = default;
  virtual void begin(std::shared_ptr<AnswerLane> lane, ChildPrompt prompt) = 0;
  // The reader of that lane has left.
  virtual void abandon(const std::shared_ptr<AnswerLane>& lane) = 0;
  // The loop runs no more: lets go of all children, which then end with it. Nothing follows.
  virtual void release() = 0;
};

class ChildHost {
 public:
  // REQUIRES: config.wire is codex_app_server or codex_proto.
  ChildHost(const UpstreamConfig& config, ChildHealth health);
  // Ends the children.
  ~ChildHost();

  // Any thread.
  void begin(std::shared_ptr<AnswerLane> lane, ChildPrompt prompt);
  void abandon(std::shared_ptr<AnswerLane> lane);
  const HashKey& key() const { return key_; }

 private:
  const HashKey key_;
  std::unique_ptr<Conductor> conductor_;  // outlives the loop, whose tasks use it
  std::unique_ptr<net::Loop> loop_;
  std::thread thread_;
};

// The hosts in use. A reload that does not change an upstream keeps its host and its conversations, also after a reload that
// failed.
class ChildHosts {
 public:
  std::shared_ptr<ChildHost> find_or_start(const UpstreamConfig& config,
                                           const std::function<ChildHealth()>& make_health);

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, std::weak_ptr<ChildHost>> hosts_;  // by name and settings
};

std::unique_ptr<Conductor> make_app_server_conductor(net::Loop& loop, const UpstreamConfig& config,
                                                     const HashKey& key, ChildHealth health);
std::unique_ptr<Conductor> make_proto_conductor(net::Loop& loop, const UpstreamConfig& config,
                                                const HashKey& key, ChildHealth health);

std::unique_ptr<UpstreamTarget> make_child_target(net::Loop& loop, const UpstreamConfig& config,
                                                  std::shared_ptr<ChildHost> host);

// How the child of that upstream is run.
net::ProcessOptions child_process(const UpstreamConfig& config);

}  // namespace callgate::server
