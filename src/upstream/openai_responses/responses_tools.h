// Tools, and which of them to call, as the Responses API wants them: what Chat Completions nests is flat.
//
//   {"type":"function","name":"find","description":"Finds things","parameters":{"type":"object"},"strict":false}
//   {"type":"custom","name":"run","format":{"type":"grammar","syntax":"lark","definition":"start: ..."}}
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "callgate/request.h"

namespace callgate::upstream {

// A JSON array, empty when there are no tools.
std::string responses_tools(const Request& request);

// JSON, empty when the choice is not given.
std::string responses_tool_choice(const Request& request);

// The names of the custom tools.
std::vector<std::string> custom_tool_names(const Request& request);

}  // namespace callgate::upstream
