// A tool as the Messages API wants it.
//
//   {"name":"find","description":"Finds things","input_schema":{"type":"object","properties":{"q":{"type":"string"}}}}
#pragma once

#include <string>

#include "callgate/request.h"
#include "json/writer.h"

namespace callgate::upstream {

void append_anthropic_tool(std::string& out, const ToolSpec& tool);
// `tool_choice`, where the request has something to say.
void append_anthropic_choice(json::ObjectWriter& object, const Request& request, bool has_tools);

}  // namespace callgate::upstream
