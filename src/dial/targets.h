// The upstreams of one event loop. A change of configuration takes three steps, of which only the last changes anything:
//
//   auto parts = load_upstream_parts(config, children, health, before);  // any thread: reads files, once for all loops
//   auto prepared = targets.prepare(config.upstreams, **parts);          // on each loop
//   targets.use(std::move(*prepared));                                   // on each loop; cannot fail
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "callgate/result.h"
#include "config/config.h"
#include "dial/child_host.h"
#include "dial/qwen_web_upstream.h"
#include "dial/scripted_chats.h"
#include "dial/upstream_call.h"
#include "net/loop.h"
#include "script/script.h"

namespace callgate::server {

struct LoadedScript {
  std::string text;
  script::Script script;
};

// What an upstream needs besides its configuration. Equal parts stand for equal files and the same child programs.
struct UpstreamPart {
  std::shared_ptr<const LoadedScript> script;  // of a scripted upstream
  std::shared_ptr<ChildHost> host;             // of a child program
  std::shared_ptr<Credential> credential;      // where a program or a file has it
  std::string ca_text;                         // of `ca_file`; empty when it cannot be read

  bool operator==(const UpstreamPart&) const = default;
};

// The parts of all upstreams. All loops share them.
struct UpstreamParts {
  std::map<std::string, UpstreamPart, std::less<>> by_upstream;
  std::shared_ptr<ScriptedChats> chats;  // nullptr unless an upstream is scripted
};

// Reads the files that the upstreams name. What `before` (nullptr: nothing) has already is taken from there when its file
// is the same.
Result<std::shared_ptr<const UpstreamParts>> load_upstream_parts(
    const Config& config, ChildHosts& children,
    const std::function<ChildHealth(const std::string& upstream)>& health,
    const UpstreamParts* before);

// Loop thread only, or before the loop runs.
class Targets {
 public:
  struct Entry {
    UpstreamConfig config;
    UpstreamPart part;
    std::shared_ptr<UpstreamTarget> target;
  };
  using Prepared = std::map<std::string, Entry, std::less<>>;

  // REQUIRES: `loop` and `memory` outlive the targets.
  Targets(net::Loop& loop, ConversationMemory& memory, std::uint64_t id_seed)
      : loop_(loop), memory_(memory), mint_(id_seed) {}

  // Changes nothing. Targets whose configuration and files are the same stay, and with them their open connections.
  // REQUIRES: `parts` were loaded for these upstreams.
  Result<Prepared> prepare(const std::vector<UpstreamConfig>& upstreams,
                           const UpstreamParts& parts);
  // For calls from now on. Calls that run keep the target that they began with.
  void use(Prepared prepared) noexcept { targets_ = std::move(prepared); }

  // nullptr if the upstream is unknown or was removed.
  std::shared_ptr<UpstreamTarget> find(std::string_view name) const;

 private:
  Result<std::shared_ptr<UpstreamTarget>> make(const UpstreamConfig& config,
                                               const UpstreamPart& part,
                                               const UpstreamParts& parts);

  net::Loop& loop_;
  ConversationMemory& memory_;
  IdMint mint_;
  Prepared targets_;
};

}  // namespace callgate::server
