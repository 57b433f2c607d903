#include "tool/mcp_server.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/quoted.h"
#include "callgate/version.h"
#include "json/member.h"
#include "json/reader.h"
#include "json/writer.h"
#include "sse/encoder.h"
#include "tool/mcp_headers.h"
#include "tool/mcp_message.h"

namespace callgate::tool {
namespace {

constexpr std::array<std::string_view, 3> kServedRevisions = {kMcpSessionRevision, "2025-06-18",
                                                              "2025-03-26"};
constexpr std::string_view kSupported = R"(["2026-07-28","2025-11-25","2025-06-18","2025-03-26"])";
constexpr std::string_view kVersionKey = "io.modelcontextprotocol/protocolVersion";

McpReply json_reply(int status, std::string body) {
  McpReply reply{.status = status, .body = std::move(body)};
  reply.headers.emplace_back("content-type", "application/json");
  return reply;
}

McpReply refuse(int status, std::string_view id, std::int64_t code, std::string_view message,
                std::string_view data = {}) {
  return json_reply(status, write_mcp_error(id, code, message, data));
}

std::string header_of(const McpHttpRequest& request, std::string_view name) {
  const auto value = request.header ? request.header(name) : std::nullopt;
  return std::string(value.value_or(""));
}

bool accepts(const McpHttpRequest& request, std::string_view type) {
  const std::string accept = header_of(request, "accept");
  return accept.empty() || accept.find(type) != std::string::npos ||
         accept.find("*/*") != std::string::npos;
}

McpReply unsupported(const McpMessage& message, std::string_view wanted) {
  std::string data = R"({"supported":)";
  data.append(kSupported).append(R"(,"requested":)");
  json::append_string(data, shortened(wanted));
  data.push_back('}');
  return refuse(400, message.id, kMcpUnsupportedVersion, "Unsupported protocol version", data);
}

}  // namespace

struct McpServer::Asked {
  const McpHttpRequest& http;
  McpMessage message;
  bool stateless = false;

  std::string_view meta() const { return json::member_json(message.params, "_meta"); }
  // A refusal with the status that the revision gives it: the older one knows only those of JSON-RPC.
  McpReply fault(int status, std::int64_t code, std::string_view words) const {
    return refuse(stateless ? status : 200, message.id, code, words);
  }
  std::optional<McpReply> check_headers() const;
  // Arguments that the schema also wants in headers.
  std::optional<McpReply> check_arguments(std::string_view schema,
                                          std::string_view arguments) const;
};

namespace {

std::string mismatch(std::string_view header) {
  return "Header mismatch: " + std::string(header) + " is missing or is not what the body says";
}

}  // namespace

std::optional<McpReply> McpServer::Asked::check_headers() const {
  const auto refused = [this](std::string_view header) {
    return refuse(400, message.id, kMcpHeaderMismatch, mismatch(header));
  };
  const std::string version = json::member_text(meta(), kVersionKey);
  if (version.empty()) {
    return refuse(400, message.id, kMcpInvalidParams, "_meta: protocolVersion is missing");
  }
  const std::string said = header_of(http, "mcp-protocol-version");
  if (said != version) return refused("MCP-Protocol-Version");
  if (version != kMcpStatelessRevision) return unsupported(message, version);
  if (header_of(http, "mcp-method") != message.method) return refused("Mcp-Method");
  if (message.method == "tools/call") {
    const auto name = decode_mcp_header(header_of(http, "mcp-name"));
    if (!name || name->empty() || *name != json::member_text(message.params, "name")) {
      return refused("Mcp-Name");
    }
  }
  if (!json::member_json(meta(), "io.modelcontextprotocol/clientCapabilities").starts_with('{')) {
    return refuse(400, message.id, kMcpInvalidParams, "_meta: clientCapabilities is missing");
  }
  return std::nullopt;
}

std::optional<McpReply> McpServer::Asked::check_arguments(std::string_view schema,
                                                          std::string_view arguments) const {
  const auto params = read_header_params(schema);
  if (!params) return std::nullopt;
  for (const auto& [name, value] : header_values(*params, arguments)) {
    const auto said = decode_mcp_header(header_of(http, name));
    if (!said || *said != decode_mcp_header(value)) {
      return refuse(400, message.id, kMcpHeaderMismatch, mismatch(name));
    }
  }
  return std::nullopt;
}

McpAction McpServer::accept(const McpHttpRequest& request,
                            const std::vector<ToolSpec>& tools) const {
  if (request.method != "POST") {
    McpReply reply = refuse(405, "", kMcpInvalidRequest, "only POST is offered here");
    reply.headers.emplace_back("allow", "POST");
    return reply;
  }
  if (!accepts(request, "application/json") && !accepts(request, "text/event-stream")) {
    return refuse(406, "", kMcpInvalidRequest,
                  "accept: expected application/json and text/event-stream");
  }
  json::Reader in(request.body);
  in.skip();
  if (!in.finish()) return refuse(400, "", kMcpParseError, "the body is not JSON");
  Asked asked{.http = request, .message = read_mcp_message(request.body)};
  const McpMessage& message = asked.message;
  switch (message.kind) {
    case McpMessage::Kind::notification:
    case McpMessage::Kind::result:
    case McpMessage::Kind::error:
      // Nothing is asked of clients, and a call is cancelled by closing its connection.
      return McpReply{.status = 202};
    case McpMessage::Kind::invalid:
      return refuse(400, message.id, kMcpInvalidRequest, "the body is not a JSON-RPC request");
    case McpMessage::Kind::request:
      break;
  }
  const std::string said = header_of(request, "mcp-protocol-version");
  asked.stateless =
      !json::member_json(asked.meta(), kVersionKey).empty() || said == kMcpStatelessRevision;
  if (asked.stateless) {
    if (auto refused = asked.check_headers()) return std::move(*refused);
  } else if (message.method != "initialize" && !said.empty() &&
             std::find(kServedRevisions.begin(), kServedRevisions.end(), said) ==
                 kServedRevisions.end()) {
    return unsupported(message, said);
  }
  if (message.method == "tools/list") return list(asked, tools);
  if (message.method == "tools/call") return call(asked, tools);
  if (asked.stateless) {
    if (message.method == "server/discover") return discover(asked);
    if (message.method == "subscriptions/listen") return listen(asked);
  } else {
    if (message.method == "initialize") return hello(asked);
    if (message.method == "ping") return json_reply(200, write_mcp_result(message.id, "{}"));
  }
  return asked.fault(404, kMcpMethodNotFound, "Method not found");
}

std::string McpServer::server_words() const {
  std::string out;
  json::ObjectWriter object(out);
  object.string("name", options_.name);
  object.string("version", kVersion);
  object.close();
  return out;
}

McpReply McpServer::hello(const Asked& asked) const {
  const std::string wanted = json::member_text(asked.message.params, "protocolVersion");
  const bool known =
      std::find(kServedRevisions.begin(), kServedRevisions.end(), wanted) != kServedRevisions.end();
  std::string result;
  json::ObjectWriter object(result);
  object.string("protocolVersion", known ? std::string_view(wanted) : kMcpSessionRevision);
  object.raw("capabilities", R"({"tools":{"listChanged":false}})");
  object.raw("serverInfo", server_words());
  if (!options_.instructions.empty()) object.string("instructions", options_.instructions);
  object.close();
  return json_reply(200, write_mcp_result(asked.message.id, result));
}

McpReply McpServer::discover(const Asked& asked) const {
  std::string result;
  json::ObjectWriter object(result);
  object.string("resultType", "complete");
  object.raw("supportedVersions", kSupported);
  object.raw("capabilities", R"({"tools":{"listChanged":true}})");
  object.raw("serverInfo", server_words());
  if (!options_.instructions.empty()) object.string("instructions", options_.instructions);
  object.integer("ttlMs", 3'600'000);
  object.string("cacheScope", "public");
  object.raw("_meta", R"({"io.modelcontextprotocol/serverInfo":)" + server_words() + "}");
  object.close();
  return json_reply(200, write_mcp_result(asked.message.id, result));
}

McpAction McpServer::list(const Asked& asked, const std::vector<ToolSpec>& tools) const {
  std::size_t first = 0;
  if (!json::member_json(asked.message.params, "cursor").empty()) {
    const std::string cursor = json::member_text(asked.message.params, "cursor");
    const char* end = cursor.data() + cursor.size();
    const auto [stop, fault] = std::from_chars(cursor.data(), end, first);
    if (fault != std::errc() || stop != end || first > tools.size()) {
      return asked.fault(400, kMcpInvalidParams, "cursor: not one of ours");
    }
  }
  const std::size_t last = std::min(first + options_.page, tools.size());
  std::string result;
  json::ObjectWriter object(result);
  if (asked.stateless) object.string("resultType", "complete");
  std::string& out = object.key("tools");
  out.push_back('[');
  for (std::size_t i = first; i < last; ++i) {
    if (i > first) out.push_back(',');
    json::ObjectWriter tool(out);
    tool.string("name", tools[i].name);
    if (!tools[i].description.empty()) tool.string("description", tools[i].description);
    tool.raw("inputSchema", tools[i].parameters.empty()
                                ? R"({"type":"object"})"
                                : std::string_view(tools[i].parameters.text));
    tool.close();
  }
  out.push_back(']');
  if (last < tools.size()) object.string("nextCursor", std::to_string(last));
  if (asked.stateless) {
    object.integer("ttlMs", options_.fresh_ms);
    object.string("cacheScope", "private");
  }
  object.close();
  return json_reply(200, write_mcp_result(asked.message.id, result));
}

McpAction McpServer::call(const Asked& asked, const std::vector<ToolSpec>& tools) const {
  const McpMessage& message = asked.message;
  const std::string name = json::member_text(message.params, "name");
  const auto known = std::find_if(tools.begin(), tools.end(),
                                  [&](const ToolSpec& tool) { return tool.name == name; });
  if (known == tools.end())
    return asked.fault(400, kMcpInvalidParams, "Unknown tool: " + shortened(name));
  const std::string_view arguments = json::member_json(message.params, "arguments");
  if (!arguments.empty() && !arguments.starts_with('{')) {
    return asked.fault(400, kMcpInvalidParams, "arguments: expected an object");
  }
  if (asked.stateless) {
    if (auto refused = asked.check_arguments(known->parameters.text, arguments)) {
      return std::move(*refused);
    }
  }
  McpRun run{.id = std::string(message.id), .tool = name};
  run.arguments = arguments.empty() ? "{}" : arguments;
  run.stateless = asked.stateless;
  const std::string_view token = json::member_json(asked.meta(), "progressToken");
  json::Reader in(token);
  const json::Kind kind = in.peek();
  const bool is_token = kind == json::Kind::string || kind == json::Kind::number;
  if (is_token && accepts(asked.http, "text/event-stream")) run.progress_token = token;
  return run;
}

McpListen McpServer::listen(const Asked& asked) const {
  McpListen listen{.id = std::string(asked.message.id)};
  const std::string_view wanted = json::member_json(asked.message.params, "notifications");
  listen.tools_changes = json::member_json(wanted, "toolsListChanged") == "true";
  const std::string params = R"({"_meta":{"io.modelcontextprotocol/subscriptionId":)" + listen.id +
                             R"(},"notifications":{)" +
                             (listen.tools_changes ? R"("toolsListChanged":true)" : "") + "}}";
  append_frame(listen.first, "message",
               write_mcp_notification("notifications/subscriptions/acknowledged", params));
  return listen;
}

std::string McpServer::list_changed_frame(const McpListen& listen) const {
  std::string frame;
  if (!listen.tools_changes) return frame;
  const std::string params =
      R"({"_meta":{"io.modelcontextprotocol/subscriptionId":)" + listen.id + "}}";
  append_frame(frame, "message",
               write_mcp_notification("notifications/tools/list_changed", params));
  return frame;
}

std::string McpServer::result_text(const McpRun& run, const ToolResult& result) const {
  std::string out;
  json::ObjectWriter object(out);
  if (run.stateless) object.string("resultType", "complete");
  if (result.content.empty()) {
    std::string& content = object.key("content");
    content += R"([{"type":"text","text":)";
    json::append_string(content, result.text);
    content += "}]";
  } else {
    object.raw("content", result.content);
  }
  if (!result.structured.empty()) object.raw("structuredContent", result.structured);
  object.boolean("isError", result.is_error);
  if (run.stateless) {
    object.raw("_meta", R"({"io.modelcontextprotocol/serverInfo":)" + server_words() + "}");
  }
  object.close();
  return write_mcp_result(run.id, out);
}

McpReply McpServer::answer(const McpRun& run, const ToolResult& result) const {
  return json_reply(200, result_text(run, result));
}

McpReply McpServer::stream_head() const {
  McpReply reply;
  reply.headers = {{"content-type", "text/event-stream"},
                   {"cache-control", "no-cache, no-transform"},
                   {"x-accel-buffering", "no"}};
  return reply;
}

std::string McpServer::progress_frame(const McpRun& run, std::string_view progress) const {
  std::string frame;
  json::Reader in(progress);
  if (run.progress_token.empty() || in.peek() != json::Kind::object) return frame;
  std::string params;
  json::ObjectWriter object(params);
  object.raw("progressToken", run.progress_token);
  bool counted = false;
  for (std::string_view key; in.next_member(key);) {
    const bool number = in.peek() == json::Kind::number;
    const bool text = in.peek() == json::Kind::string;
    if (key == "progress" && number) {
      object.raw("progress", in.raw());
      counted = true;
    } else if (key == "total" && number) {
      object.raw("total", in.raw());
    } else if (key == "message" && text) {
      object.string("message", in.string());
    } else {
      in.skip();
    }
  }
  object.close();
  if (!counted || !in.finish()) return frame;
  append_frame(frame, "message", write_mcp_notification("notifications/progress", params));
  return frame;
}

std::string McpServer::last_frame(const McpRun& run, const ToolResult& result) const {
  std::string frame;
  append_frame(frame, "message", result_text(run, result));
  return frame;
}

}  // namespace callgate::tool
