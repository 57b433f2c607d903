// Which tool a call means whose name is lost: the one that its arguments fit.
//
//   {"city": "Paris"}   find{q} and get_weather{city, days?} are declared   get_weather
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "callgate/request.h"

namespace callgate::dialect {

// The only tool that has all the parameters that the arguments name, and none that is required and missing; else the only
// one that has them all. Null: there is none, or more than one.
const ToolSpec* tool_for(std::span<const ToolSpec> tools, std::string_view arguments);

// `name` without `functions.` in front, if only that is declared.
std::string_view declared_name(std::span<const ToolSpec> tools, std::string_view name);

// The parameter that raw text is: the only required one, or the only one, if it is a string. Else empty.
std::string text_parameter(const ToolSpec& tool);

}  // namespace callgate::dialect
