// Values of an MCP request that the stateless revision repeats in HTTP headers, and how they are written there.
//   Mcp-Name: get_weather      Mcp-Param-Region: =?base64?w7w=?=
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "callgate/result.h"

namespace callgate::tool {

// As it is, or in base64 when a header cannot hold it.
std::string encode_mcp_header(std::string_view value);
// nullopt if the base64 is invalid.
std::optional<std::string> decode_mcp_header(std::string_view value);

// A property of a tool's schema that has an `x-mcp-header`.
struct McpHeaderParam {
  std::vector<std::string> path;  // of property names
  std::string header;             // `Mcp-Param-Region`
};

// Fails when an annotation breaks the rules; such a tool is not to be used over HTTP.
Result<std::vector<McpHeaderParam>> read_header_params(std::string_view schema);

using McpHeaderList = std::vector<std::pair<std::string, std::string>>;
McpHeaderList header_values(const std::vector<McpHeaderParam>& params, std::string_view arguments);

}  // namespace callgate::tool
