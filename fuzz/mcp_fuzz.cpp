// What MCP servers, clients and hooks send is read without harm: results are valid UTF-8 within their limit, and what we write
// of it can be read again.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/utf8.h"
#include "json/member.h"
#include "json/reader.h"
#include "tool/hook_verdict.h"
#include "tool/mcp_headers.h"
#include "tool/mcp_message.h"
#include "tool/mcp_server.h"
#include "tool/mcp_values.h"

namespace callgate::tool {
namespace {

constexpr std::size_t kLimit = 64;

bool is_json(std::string_view text) {
  json::Reader in(text);
  in.skip();
  return in.finish();
}

bool is_inside(std::string_view part, std::string_view whole) {
  return part.empty() ||
         (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

void read_result(std::string_view json) {
  const ToolResult result = read_call_result(json, kLimit);
  CALLGATE_CHECK(result.text.size() <= kLimit || result.is_error);
  CALLGATE_CHECK(!utf8::is_valid(json) || utf8::is_valid(result.text));
  for (const McpToolEntry& tool : read_tool_page(json).tools) {
    CALLGATE_CHECK(!tool.name.empty() && is_json(tool.schema.empty() ? "{}" : tool.schema));
    CALLGATE_CHECK(qualified_name("s", tool.name).size() <= 64);
    const auto params = read_header_params(tool.schema);
    if (params) header_values(*params, json);
  }
  read_hello(json);
}

void read_hook(std::string_view json) {
  const auto before = read_verdict(json, HookMoment::before);
  const auto after = read_verdict(json, HookMoment::after);
  CALLGATE_CHECK(before || !after);
  if (before && before->arguments) CALLGATE_CHECK(!after && is_json(*before->arguments));
}

void serve(std::string_view body) {
  static const std::vector<ToolSpec> kTools = {{.name = "a"}, {.name = "b"}};
  const McpServer server({.page = 1});
  // Headers that agree with the body let more of it through.
  const McpMessage message = read_mcp_message(body);
  const std::string version = json::member_text(json::member_json(message.params, "_meta"),
                                                "io.modelcontextprotocol/protocolVersion");
  const std::string name = encode_mcp_header(json::member_text(message.params, "name"));
  CALLGATE_CHECK(decode_mcp_header(name) == json::member_text(message.params, "name"));
  McpHttpRequest request{.method = "POST", .body = body};
  request.header = [&](std::string_view header) -> std::optional<std::string_view> {
    if (header == "mcp-protocol-version" && !version.empty()) return version;
    if (header == "mcp-method") return message.method;
    if (header == "mcp-name") return name;
    return std::nullopt;
  };
  const McpAction action = server.accept(request, kTools);
  if (const auto* reply = std::get_if<McpReply>(&action)) {
    CALLGATE_CHECK(reply->body.empty() == (reply->status == 202));
    CALLGATE_CHECK(reply->body.empty() || is_json(reply->body));
  } else if (const auto* run = std::get_if<McpRun>(&action)) {
    CALLGATE_CHECK(is_json(run->arguments));
    CALLGATE_CHECK(is_json(server.answer(*run, {}).body));
    server.progress_frame(*run, run->arguments);
  }
}

void read(std::string_view text) {
  read_mcp_messages(text, [&](const McpMessage& message) {
    const bool copied = !utf8::is_valid(text);  // what is no UTF-8 was replaced
    CALLGATE_CHECK(copied || (is_inside(message.id, text) && is_inside(message.params, text)));
    CALLGATE_CHECK(utf8::is_valid(message.text));
    if (message.kind == McpMessage::Kind::result) read_result(message.result);
    if (message.kind == McpMessage::Kind::invalid) return;
    const McpMessage same = read_mcp_message(message.text);
    CALLGATE_CHECK(same.kind == message.kind && same.id == message.id);
  });
  read_result(text);
  read_hook(text);
  serve(text);
}

}  // namespace
}  // namespace callgate::tool

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  callgate::tool::read({reinterpret_cast<const char*>(data), size});
  return 0;
}
