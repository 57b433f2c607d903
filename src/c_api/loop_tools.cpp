#include "c_api/loop_tools.h"

#include <string>
#include <utility>

#include "json/reader.h"

namespace callgate::c_api {
namespace {

void read_member(json::Reader& in, std::string_view key, loop::Tool& tool) {
  if (key == "name") {
    tool.spec.name = in.string();
  } else if (key == "description") {
    tool.spec.description = in.string();
  } else if (key == "parameters") {
    tool.spec.parameters.text = in.raw();
  } else if (key == "approval") {
    tool.approval = in.boolean();
  } else if (key == "exclusive") {
    tool.exclusive = in.boolean();
  } else if (key == "return_direct") {
    tool.return_direct = in.boolean();
  } else if (key == "timeout_ms") {
    tool.timeout = in.integer().value_or(0);
  } else {
    in.fail("unknown member of a tool");
  }
}

}  // namespace

Result<std::vector<loop::Tool>> read_loop_tools(std::string_view json) {
  std::vector<loop::Tool> tools;
  if (json.empty()) return tools;
  json::Reader in(json);
  while (in.next_element()) {
    loop::Tool& tool = tools.emplace_back();
    for (std::string_view key; in.next_member(key);) read_member(in, key, tool);
    if (tool.spec.name.empty() && !in.failed()) in.fail("a tool without a name");
  }
  if (!in.finish()) {
    return fail(ErrorCode::invalid_request, "tools: byte " + std::to_string(in.error().offset) +
                                                ": " + std::string(in.error().message));
  }
  return tools;
}

}  // namespace callgate::c_api
