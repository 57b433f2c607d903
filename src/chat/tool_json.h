// Declared tools as JSON: `[{"name": "f", "description": "...", "parameters": {...}}]`, or with each of them inside
// `{"type": "function", "function": {...}}` as in Chat Completions. Other members are skipped.
#pragma once

#include <string_view>
#include <vector>

#include "callgate/request.h"
#include "callgate/result.h"
#include "json/reader.h"

namespace callgate {

// Reads the array that comes next and appends to `tools`. Faults of the JSON itself stay in the reader.
Result<void> read_tools(json::Reader& in, std::vector<ToolSpec>& tools);
// A text that is such an array and nothing else.
Result<std::vector<ToolSpec>> read_tools(std::string_view json);

}  // namespace callgate
