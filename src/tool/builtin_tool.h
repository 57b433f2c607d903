// Tools that the gateway has in itself. Those that need the loop's own state live with the loop.
#pragma once

#include <memory>

#include "callgate/result.h"
#include "tool/config.h"
#include "tool/tool.h"

namespace callgate::tool {

// REQUIRES: `config` holds a BuiltinToolConfig. Fails if no builtin has that name.
Result<std::shared_ptr<Tool>> make_builtin(net::Loop& loop, const ToolConfig& config);

// The JSON of a moment: {"utc":"2026-11-16T04:10:00Z","unix":1794802200}, and with an offset such as `+01:00` or
// `-0330` also {...,"local":"2026-11-16T05:10:00+01:00"}. Fails if the offset is invalid.
Result<std::string> describe_time(std::int64_t unix_seconds, std::string_view utc_offset);

}  // namespace callgate::tool
