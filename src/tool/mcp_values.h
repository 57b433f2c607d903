// What the results of an MCP server say. No I/O here.
//   {"tools":[{"name":"get_weather","description":"...","inputSchema":{"type":"object"}}],"nextCursor":"2"}
//   {"content":[{"type":"text","text":"21"},{"type":"image","data":"aGk=","mimeType":"image/png"}],"isError":false}
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "callgate/result.h"
#include "tool/tool.h"

namespace callgate::tool {

struct McpToolEntry {
  std::string name;
  std::string description;
  std::string schema;  // JSON of its input
  bool operator==(const McpToolEntry&) const = default;
};

struct McpToolPage {
  std::vector<McpToolEntry>
      tools;                // those that have a name and, if any, a schema that is an object
  std::string next_cursor;  // empty: the last page
  bool is_valid = false;
};
McpToolPage read_tool_page(std::string_view result);

// Of `initialize` and of `server/discover`.
struct McpHello {
  std::vector<std::string> versions;  // that of a handshake, or all that are supported
  bool lists_changes = false;         // reports changes of its tools
};
McpHello read_hello(std::string_view result);

// Concatenates text parts and describes other parts; structured content if there is no text. At most `limit`
// bytes; an invalid result becomes an error result.
ToolResult read_call_result(std::string_view result, std::size_t limit);

// The result of a message that answers, or the server's refusal as an Error.
Result<std::string> result_of(const Result<std::string>& answer);
// 0 if it is invalid.
std::int64_t error_code_of(const Result<std::string>& answer);

// What we tell servers of ourselves, JSON.
std::string client_words();

// `server__tool`, or `tool` without a server, of letters, digits, `_` and `-`, at most 64 characters. What is cut or replaced is made up for by a
// hash, so that different tools keep different names.
std::string qualified_name(std::string_view server, std::string_view tool);

}  // namespace callgate::tool
