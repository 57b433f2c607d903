// What the configuration says, as the modules that serve it take it.
#pragma once

#include <memory>

#include "callgate/result.h"
#include "config/config.h"
#include "net/loop.h"
#include "net/server.h"
#include "session/conversations.h"
#include "store/request_log.h"
#include "store/sessions.h"
#include "telemetry/span_exporter.h"
#include "turn/world.h"

namespace callgate::server {

// `id_seed`: of the ids under which the server refuses requests by itself. REQUIRES: the world outlives the server.
net::ServerOptions server_options(const Config& config, World& world, std::uint64_t id_seed);
ConversationLimits conversation_limits(const LimitsConfig& limits);
// REQUIRES: the log outlives what is made with them, here and below.
store::RequestLogOptions store_options(const StoreConfig& config, telemetry::Logger& log);
store::SessionsOptions sessions_options(const Config& config, telemetry::Logger& log);
telemetry::SpanExporterOptions span_options(const OtlpConfig& config);

// What tasks of the loop throw is counted, and logged now and then. REQUIRES: the world outlives the loop.
void report_faults(net::Loop& loop, World& world);

}  // namespace callgate::server
