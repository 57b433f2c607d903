// The tools of a loop as a C program writes them:
//   [{"name": "refund", "description": "...", "parameters": {...}, "approval": true, "timeout_ms": 5000}]
#pragma once

#include <string_view>
#include <vector>

#include "callgate/loop_options.h"
#include "callgate/result.h"

namespace callgate::c_api {

// Empty text: no tools. Unlike in requests an unknown member is an error, so that a misspelt `approval` is noticed.
Result<std::vector<loop::Tool>> read_loop_tools(std::string_view json);

}  // namespace callgate::c_api
