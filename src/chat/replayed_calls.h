// Calls and results that a client sends back as text: blocks such as
//
//   <use_tool><name>read</name><path>a</path></use_tool>      <tool_result>...</tool_result>
//
// in what the user or the assistant said. A model takes them for the format that it should write, or for results that it
// never asked for.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "callgate/request.h"

namespace callgate {

// The text without such blocks. A tag that is not closed is no block.
std::string without_replayed_calls(std::string_view text);

// The first message with one.
std::optional<std::size_t> find_replayed_calls(const std::vector<Message>& messages);
// Leaves the blocks out, and messages that say nothing else.
void strip_replayed_calls(std::vector<Message>& messages);

}  // namespace callgate
