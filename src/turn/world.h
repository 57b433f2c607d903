// What the event loops of a gateway share. Everything in it may be used from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "access/address_limits.h"
#include "access/limits.h"
#include "access/wrong_keys.h"
#include "base/memory_budget.h"
#include "callgate/result.h"
#include "dial/child_host.h"
#include "dial/pool/board.h"
#include "dial/qwen_web_upstream.h"
#include "recorder/capture_writer.h"
#include "recorder/live_feed.h"
#include "recorder/recent_captures.h"
#include "store/request_log.h"
#include "telemetry/log.h"
#include "telemetry/metrics.h"
#include "turn/loop_memories.h"
#include "turn/loop_states.h"
#include "turn/model/model_catalogue.h"
#include "turn/running_loops.h"
#include "turn/running_responses.h"
#include "turn/stored_responses.h"

namespace callgate::telemetry {
class SpanExporter;
}
namespace callgate::tool {
class ToolHost;
}

namespace callgate::server {

class KeyBook;
class QueryPool;
class SharedLimits;

// The keys whose change waits for a restart, or why nothing has changed.
using ReloadOutcome = Result<std::vector<std::string>>;

struct World;
// Upstreams that are left out of pools or come back are logged and counted from now on.
void report_pools(World& world);

struct World {
  World(telemetry::Logger& logger, telemetry::Metrics& all_metrics, store::RequestLog& request_log,
        std::int64_t max_streams)
      : log(logger),
        metrics(all_metrics),
        requests(request_log),
        captures(logger, all_metrics, &memory),
        streams(max_streams) {
    report_pools(*this);
    loop_states.set_loss_report([this](std::string_view why) {
      metrics.loop_states_lost.with(why).add();
      log.repeated(telemetry::LogLevel::warning, "loop state",
                   "the state of a tool loop is lost, its client cannot go on", {{"why", why}});
    });
  }
  telemetry::Logger& log;
  telemetry::Metrics& metrics;
  store::RequestLog& requests;
  MemoryBudget memory;
  CaptureWriter captures;
  RecentCaptures recent_captures;
  LiveFeed live;
  Board pools{std::random_device()()};
  const std::shared_ptr<ModelCatalogue> catalogue = std::make_shared<ModelCatalogue>();
  telemetry::SpanExporter* spans = nullptr;  // nullptr: nothing is traced
  ConcurrencyLimit streams;
  ConcurrencyLimit bodies{0};  // on their way
  WrongKeys wrong_keys;
  AddressLimits addresses;
  std::atomic<std::int64_t> connections{0};
  std::atomic<bool> draining{false};
  ConversationMemory conversations;
  SharedLimits* limits = nullptr;  // nullptr: there is no store, and limits are this gateway's own
  KeyBook* stored_keys = nullptr;  // nullptr: there is no store
  ChildHosts children;
  QueryPool* queries = nullptr;     // nullptr: the request log cannot be queried
  tool::ToolHost* tools = nullptr;  // nullptr: there are none
  LoopStates loop_states;
  LoopMemories memories;
  RunningLoops loops;
  StoredResponses responses;
  RunningResponses background;
  // Reads the configuration again; the callback is called once, on another thread. Empty: this gateway cannot.
  std::function<void(std::function<void(const ReloadOutcome&)>)> reload;
};

}  // namespace callgate::server
