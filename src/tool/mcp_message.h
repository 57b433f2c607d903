// The messages of the Model Context Protocol, which are those of JSON-RPC. No I/O here.
//   {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"get_weather","arguments":{"city":"Bonn"}}}
//   {"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"21 degrees"}]}}
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/function_ref.h"

namespace callgate::tool {

inline constexpr std::string_view kMcpSessionRevision = "2025-11-25";
inline constexpr std::string_view kMcpStatelessRevision = "2026-07-28";

// Error codes with a meaning of their own.
inline constexpr std::int64_t kMcpParseError = -32700;
inline constexpr std::int64_t kMcpInvalidRequest = -32600;
inline constexpr std::int64_t kMcpMethodNotFound = -32601;
inline constexpr std::int64_t kMcpInvalidParams = -32602;
inline constexpr std::int64_t kMcpHeaderMismatch = -32020;
inline constexpr std::int64_t kMcpMissingCapability = -32021;
inline constexpr std::int64_t kMcpUnsupportedVersion = -32022;

struct McpMessage {
  enum class Kind : std::uint8_t { request, notification, result, error, invalid };
  Kind kind = Kind::invalid;
  std::string_view text;  // all of it
  // JSON as it was written, in the text that was read; empty when not given.
  std::string_view id;
  std::string_view params;
  std::string_view result;
  std::string_view error_data;
  std::string method;
  std::int64_t error_code = 0;
  std::string error_message;

  // The id, when it is an integer such as ours.
  std::optional<std::int64_t> number() const;
};

// Total: text that is not a message is of kind invalid. Views are into `text`.
McpMessage read_mcp_message(std::string_view text);
// Each message of a batch, or the only one. Bytes that are no UTF-8 become U+FFFD.
// Views are valid during the call only.
void read_mcp_messages(std::string_view text, FunctionRef<void(const McpMessage&)> on_message);

// `params`, `id`, `result` and `data` are JSON; empty params and data are left out.
std::string write_mcp_request(std::int64_t id, std::string_view method, std::string_view params);
std::string write_mcp_notification(std::string_view method, std::string_view params);
std::string write_mcp_result(std::string_view id, std::string_view result);
std::string write_mcp_error(std::string_view id, std::int64_t code, std::string_view message,
                            std::string_view data = {});

}  // namespace callgate::tool
