// The gateway on one event loop: routes requests, checks who asks, and answers.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/ids.h"
#include "callgate/dialect.h"
#include "client/protocol.h"
#include "engine/prepare_request.h"
#include "net/client.h"
#include "net/loop.h"
#include "net/server.h"
#include "net/task.h"
#include "server/access.h"
#include "server/call_habits.h"
#include "server/capture.h"
#include "server/capture_writer.h"
#include "server/child_host.h"
#include "server/config.h"
#include "server/loop_memories.h"
#include "server/loop_states.h"
#include "server/query_pool.h"
#include "server/qwen_web_upstream.h"
#include "server/recent_captures.h"
#include "server/rooms.h"
#include "server/running_loops.h"
#include "server/secret_mask.h"
#include "server/text_tools.h"
#include "server/upstream_call.h"
#include "store/request_log.h"
#include "telemetry/log.h"
#include "telemetry/metrics.h"

namespace callgate::telemetry {
class SpanExporter;
}
namespace callgate::tool {
class Catalogue;
class McpServer;
struct McpListen;
struct McpRun;
class ToolHost;
struct ToolResult;
}  // namespace callgate::tool

namespace callgate::server {

class SharedLimits;
struct LoopWork;
struct TurnHost;

// What all loops share. Everything in it may be used from any thread.
struct World {
  World(telemetry::Logger& logger, telemetry::Metrics& all_metrics, store::RequestLog& request_log,
        std::int64_t max_streams)
      : log(logger),
        metrics(all_metrics),
        requests(request_log),
        captures(logger, all_metrics),
        streams(max_streams) {}
  telemetry::Logger& log;
  telemetry::Metrics& metrics;
  store::RequestLog& requests;
  CaptureWriter captures;
  RecentCaptures recent_captures;
  telemetry::SpanExporter* spans = nullptr;  // nullptr: nothing is traced
  ConcurrencyLimit streams;
  std::atomic<std::int64_t> connections{0};
  std::atomic<bool> draining{false};
  ConversationMemory conversations;
  SharedLimits* limits = nullptr;  // nullptr: limits are this gateway's own
  ScriptedChats scripted_chats{10'000};
  ChildHosts children;
  QueryPool* queries = nullptr;     // nullptr: the store is not asked
  tool::ToolHost* tools = nullptr;  // nullptr: there are none
  LoopStates loop_states;
  LoopMemories memories;
  RunningLoops loops;
  Rooms rooms;
};

// By name.
using UpstreamTargets = std::map<std::string, std::shared_ptr<UpstreamTarget>, std::less<>>;

struct DialectChoice {
  const Dialect* dialect = nullptr;  // nullptr: native
  bool is_default = false;           // nobody chose it
};

// The dialect of a turn: the header `x-callgate-dialect`, else the configuration, else the model's name, else auto.
Result<DialectChoice> choose_dialect(const ModelConfig& model, std::string_view header);

// A configuration in force, immutable but for its counters. A reload replaces it on each loop.
struct Snapshot {
  struct Model {
    const ModelConfig* config = nullptr;
    DialectChoice dialect;  // without a header
    PolicyOptions policy;
    engine::RequestRules rules;
  };
  // REQUIRES: check_config(given) holds.
  Snapshot(Config given, Access keys);
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;

  const Config config;
  const Access access;
  const std::shared_ptr<const std::vector<std::string>> secrets;  // what captures must not show
  const SecretMask mask;                                          // over those that are long enough
  std::unordered_map<std::string_view, Model> models;
  // Learned while this configuration is in force.
  mutable LearnedPairs text_only;  // upstreams that refused tools
  mutable CallHabits habits;
};

// One request on its way through the gateway.
struct Ask {
  net::Exchange& exchange;
  std::shared_ptr<const Snapshot> snapshot;
  std::string id;
  KeyState* key = nullptr;  // nullptr on an open gateway
  net::Headers headers;     // of the answer, whatever it will be
  std::uint64_t started_ms = 0;
  std::unique_ptr<Capture> capture;  // nullptr: it is not captured
};

// The places that a turn takes, of the gateway and of its key. Leaves them when it goes.
class TurnSlots {
 public:
  // `key` is nullptr on an open gateway.
  TurnSlots(World& world, KeyState* key);
  // Why there is no place; nothing when there is.
  std::optional<Error> refusal() const;

 private:
  ConcurrencySlot slot_;
  std::optional<ConcurrencySlot> key_slot_;
};

class Gateway {
 public:
  // REQUIRES: the world outlives the gateway.
  Gateway(World& world, net::Loop& loop, std::uint64_t id_seed);

  // Puts a configuration in force for requests from now on. Fails without changing anything.
  Result<void> apply(std::shared_ptr<const Snapshot> snapshot);

  net::Task<> answer(net::Exchange& exchange);

  // For whoever starts turns on this gateway's loop.
  TurnHost turn_host();
  const std::shared_ptr<const Snapshot>& snapshot() const { return snapshot_; }
  // The model, if it exists and the key may use it.
  static Result<Snapshot::Model> choose_model(const Snapshot& snapshot, const KeyState* key,
                                              std::string_view name);
  // Whether a turn may begin at all, and whether the key has one left. Adds to the headers of the answer.
  Result<void> admit_turn(const Snapshot& snapshot, KeyState* key, net::Headers& headers);

 private:
  struct Route;
  static Result<const Route*> find_route(Ask& ask);

  net::Task<> chat_completions(Ask& ask);
  Result<std::unique_ptr<LoopWork>> read_turn(Ask& ask, std::string_view body);
  // Frames of their own: a stream without a loop has no room for one.
  net::Task<> run_plain(Ask& ask, std::unique_ptr<LoopWork> work);
  net::Task<> run_loop(Ask& ask, std::unique_ptr<LoopWork> work);
  net::Task<> models(Ask& ask);
  net::Task<> livez(Ask& ask);
  net::Task<> readyz(Ask& ask);
  net::Task<> metrics(Ask& ask);
  net::Task<> log_query(Ask& ask);
  net::Task<> list_sessions(Ask& ask);
  net::Task<> show_session(Ask& ask);
  net::Task<> delete_session(Ask& ask);
  net::Task<> list_loops(Ask& ask);
  net::Task<> steer_loop(Ask& ask);
  net::Task<> show_conversation(Ask& ask);
  net::Task<> delete_conversation(Ask& ask);
  net::Task<> room(Ask& ask);
  net::Task<> mcp(Ask& ask);
  net::Task<tool::ToolResult> mcp_run(Ask& ask, const tool::McpRun& run,
                                      const tool::Catalogue& catalogue);
  // The same with the tool's progress, as a stream.
  net::Task<> mcp_stream(Ask& ask, const tool::McpServer& server, const tool::McpRun& run,
                         const tool::Catalogue& catalogue);
  net::Task<> mcp_listen(Ask& ask, const tool::McpServer& server, const tool::McpListen& listen);
  net::Task<> preflight(Ask& ask);

  // The gateway's own answer to a request that it does not serve.
  // `status`: another one than the error's; 0: the error's.
  net::Task<> refuse(Ask& ask, const Error& error, int status = 0);
  net::Task<> respond_json(Ask& ask, int status, std::string_view body);
  Result<void> admit(Ask& ask, const Route& route);
  void add_cors(Ask& ask);
  // Captures the request if that is configured or asked for, and briefly where its content is `logged` anyway. `body` is
  // as received.
  Result<void> begin_capture(Ask& ask, std::string_view model, std::string_view body, bool logged);
  net::Task<> recent_capture(Ask& ask);

  World& world_;
  net::Loop& loop_;
  IdMint mint_;
  std::shared_ptr<const Snapshot> snapshot_;
  UpstreamTargets targets_;
};

// Listeners' addresses decide whether loopback pages may call.
bool listens_on_loopback_only(const Config& config);

}  // namespace callgate::server
