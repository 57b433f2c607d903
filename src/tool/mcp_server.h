// McpServer: our tools for other MCP clients, over Streamable HTTP. Protocol only: a request goes in and what to answer
// comes out; the owner of the socket sends it and runs the tools. It keeps nothing between requests, in either revision:
// sessions are not offered, and there is nothing to resume.
//   POST {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"lookup","arguments":{"id":"7"}}}
//   -> McpRun{...}; run the tool, then answer(run, result) -> 200 {"jsonrpc":"2.0","id":1,"result":{"content":[...]}}
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "callgate/request.h"
#include "tool/tool.h"

namespace callgate::tool {

// What the owner knows of an HTTP request.
struct McpHttpRequest {
  std::string_view method;  // POST, GET, ...
  std::string_view body;
  std::function<std::optional<std::string_view>(std::string_view name)> header;
};

struct McpReply {
  int status = 200;
  std::vector<std::pair<std::string, std::string>>
      headers;  // content-type among them, if there is a body
  std::string body;
};

// A tool is to be run. Keep it until then.
struct McpRun {
  std::string id;              // JSON
  std::string tool;            // its name
  std::string arguments;       // JSON
  std::string progress_token;  // JSON; empty: no progress is wanted, or no stream
  bool stateless = false;
};

// Answer with a stream of frames (text/event-stream) that stays open: `first` now, list_changed_frame() at every change
// of the tools, comments in between. The client closes it.
struct McpListen {
  std::string id;  // JSON
  std::string first;
  bool tools_changes = false;  // what the client asked for
};

using McpAction = std::variant<McpReply, McpRun, McpListen>;

struct McpServerOptions {
  std::string name = "callgate";
  std::string instructions;
  std::size_t page = 100;         // tools in one answer
  std::int64_t fresh_ms = 5'000;  // how long a client may trust a list of tools
};

class McpServer {
 public:
  explicit McpServer(McpServerOptions options = {}) : options_(std::move(options)) {}

  // `tools`: those that this client may use, in an order that stays.
  McpAction accept(const McpHttpRequest& request, const std::vector<ToolSpec>& tools) const;

  // One JSON document.
  McpReply answer(const McpRun& run, const ToolResult& result) const;
  // Or a stream: its head, any number of progress frames, and the last frame.
  McpReply stream_head() const;
  // `progress` is the JSON that a tool reported; empty if the client wants none or it is not an object.
  std::string progress_frame(const McpRun& run, std::string_view progress) const;
  std::string last_frame(const McpRun& run, const ToolResult& result) const;
  std::string list_changed_frame(const McpListen& listen) const;

 private:
  struct Asked;
  McpAction call(const Asked& asked, const std::vector<ToolSpec>& tools) const;
  McpAction list(const Asked& asked, const std::vector<ToolSpec>& tools) const;
  McpReply hello(const Asked& asked) const;
  McpReply discover(const Asked& asked) const;
  McpListen listen(const Asked& asked) const;
  std::string result_text(const McpRun& run, const ToolResult& result) const;
  std::string server_words() const;

  const McpServerOptions options_;
};

}  // namespace callgate::tool
