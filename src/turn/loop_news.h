// What an answer says of the tool loop that makes it. With show_tool_calls a stream has frames with an empty delta and the
// member
//   "callgate":{"type":"callgate.tool_call","round":0,"id":"call_1","name":"lookup_order","arguments":"{...}"}
// and a whole answer lists them. A call that waits for approval is always such a frame, in a stream. The last frames and the whole answer have
//   "callgate":{"loop":"loop_1","end_reason":"completed","rounds":1,"calls":1}
#pragma once

#include <string>
#include <string_view>

#include "callgate/loop.h"

namespace callgate::server {

std::string print_news(const loop::ToolCallNotice& call);
std::string print_news(const loop::ToolResultNotice& result);
std::string print_news(const loop::WaitForApproval& wait, std::string_view loop_id);
// `events`: what print_news() gave before, separated by commas; empty: it is not listed.
std::string print_news(const loop::LoopEnded& ended, std::string_view loop_id,
                       std::string_view events);

}  // namespace callgate::server
