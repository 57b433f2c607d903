// What the configuration says of tools and of the loop, as the rooms that run them take it.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "callgate/loop_options.h"
#include "callgate/result.h"
#include "config/config.h"
#include "tool/config.h"
#include "tool/host.h"

namespace callgate::server {

Result<tool::ToolConfig> to_tool_config(const ToolTable& table);
// All [[tool]] and [[hook]] tables.
Result<tool::ToolSet> to_tool_set(const Config& config);
Result<loop::Options> to_loop_options(const LoopConfig& config);

// Those tools that match one of `patterns`, with what their [[tool]] says of them. Tools of tables that the
// configuration does not have are left out: tools and configuration are not replaced at the very same time.
std::vector<loop::Tool> loop_tools(const tool::Catalogue& catalogue, const Config& config,
                                   std::span<const std::string> patterns);

}  // namespace callgate::server
