// An MCP server as a source of tools.
#pragma once

#include <memory>

#include "callgate/result.h"
#include "tool/config.h"
#include "tool/source.h"

namespace callgate::tool {

// REQUIRES: `config` holds an McpToolConfig.
Result<std::unique_ptr<ToolSource>> make_mcp_source(net::Loop& loop, const ToolConfig& config);

}  // namespace callgate::tool
