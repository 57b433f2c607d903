// A call that nobody found: a turn with tools made none, but its text looks like one.
#pragma once

#include <span>
#include <string_view>

#include "callgate/request.h"

namespace callgate::dialect {

// The dialect that reads a call of a declared tool in the text, else the one whose opener stands where a call may begin.
// Static text; empty: the text does not look like a call. Reads the text a few times at most.
std::string_view find_missed_call(std::string_view text, std::span<const ToolSpec> tools);

}  // namespace callgate::dialect
