#include "chat/tool_json.h"

#include <string>
#include <utility>

namespace callgate {
namespace {

void read_tool(json::Reader& in, ToolSpec& tool) {
  for (std::string_view key; in.next_member(key);) {
    if (key == "name") {
      tool.name = in.string();
    } else if (key == "description" && in.peek() == json::Kind::string) {
      tool.description = in.string();
    } else if (key == "parameters") {
      tool.parameters.text = in.raw();
    } else if (key == "function" && in.peek() == json::Kind::object) {
      read_tool(in, tool);
    } else {
      in.skip();
    }
  }
}

}  // namespace

Result<void> read_tools(json::Reader& in, std::vector<ToolSpec>& tools) {
  while (in.next_element()) read_tool(in, tools.emplace_back());
  if (in.failed()) {
    return fail(ErrorCode::invalid_request, "tools: expected a list of {\"name\", \"parameters\"}");
  }
  for (const ToolSpec& tool : tools) {
    if (tool.name.empty()) {
      return fail(ErrorCode::invalid_request, "tools: every tool needs a name");
    }
  }
  return {};
}

Result<std::vector<ToolSpec>> read_tools(std::string_view json) {
  json::Reader in(json);
  std::vector<ToolSpec> tools;
  if (auto done = read_tools(in, tools); !done) return tl::unexpected(done.error());
  if (!in.finish()) {
    return fail(ErrorCode::invalid_request, "tools: " + std::string(in.error().message));
  }
  return tools;
}

}  // namespace callgate
