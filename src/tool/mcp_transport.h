// McpTransport: carries messages to one MCP server and back, over its standard streams or over HTTP. Loop thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "callgate/result.h"
#include "net/loop.h"
#include "net/task.h"
#include "tool/cancel.h"
#include "tool/config.h"
#include "tool/mcp_headers.h"
#include "tool/mcp_message.h"

namespace callgate::tool {

struct McpRequest {
  std::int64_t id = 0;
  std::string method;
  std::string params;     // JSON
  std::string name;       // of the tool that is called
  McpHeaderList headers;  // of its arguments
};

class McpTransport {
 public:
  // What comes by itself: notifications and the server's requests. May arrive at any time.
  struct Events {
    std::function<void(const McpMessage&)> message;
    std::function<void(const Error& why)> end;  // the connection is gone; open() makes a new one
  };
  virtual ~McpTransport() = default;

  // Makes a connection, in place of an earlier one.
  virtual Result<void> open() = 0;
  // The text of the message that answers. An error message of the server also counts as an answer.
  // not_found: the server has forgotten the session.
  virtual net::Task<Result<std::string>> ask(const McpRequest& request, net::Millis timeout,
                                             CancelToken& cancel) = 0;
  // A notification or an answer to the server's request; no reply is awaited.
  virtual void tell(std::string message) = 0;
  // The same for what must arrive before the next request is sent.
  virtual net::Task<> deliver(std::string message) = 0;
  // Which revision is spoken from now on; empty: not known yet.
  virtual void use_revision(std::string revision) = 0;
  // Opens a way for messages that come by themselves, if the revision needs one. `request` is what to ask for.
  virtual void listen(McpRequest request) = 0;
  // Ends the connection; nothing is reported any more.
  virtual void close() = 0;
};

std::shared_ptr<McpTransport> make_mcp_stdio(net::Loop& loop, const McpToolConfig& config,
                                             McpTransport::Events events);
Result<std::shared_ptr<McpTransport>> make_mcp_http(net::Loop& loop, const McpToolConfig& config,
                                                    McpTransport::Events events);

}  // namespace callgate::tool
