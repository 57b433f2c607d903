// A tool as the Messages API wants it.
//
//   {"name":"find","description":"Finds things","input_schema":{"type":"object","properties":{"q":{"type":"string"}}}}
#pragma once

#include <string>

#include "callgate/request.h"

namespace callgate::upstream {

void append_anthropic_tool(std::string& out, const ToolSpec& tool);

}  // namespace callgate::upstream
