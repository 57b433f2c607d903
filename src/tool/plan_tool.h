// The plan of a longer task: a list of steps that the model maintains. Each call gives the whole list, and the result is
// the list as everybody reads it:
//
//   {"steps": [{"step": "Read the file", "state": "done"}, {"step": "Fix it", "state": "in_progress"}]}
//   Plan, 1 of 2 done:
//   [x] Read the file
//   [>] Fix it
//
// The list lives in the conversation, so it is where calls and results are: in rooms, in notices and in the log.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "callgate/result.h"
#include "tool/config.h"
#include "tool/tool.h"

namespace callgate::tool {

std::shared_ptr<Tool> make_plan_tool(net::Loop& loop, const ToolConfig& config);

// The list as text. The error says what the model should write instead.
Result<std::string> print_plan(std::string_view arguments);

}  // namespace callgate::tool
