// What codex is told -> the canonical request that a script matches: the parameters of thread/start, and input items. The
// items that it is given besides are those of the Responses API.
#pragma once

#include <string_view>

#include "callgate/request.h"

namespace callgate::script {

// {"model":"m","baseInstructions":"Be brief.","dynamicTools":[{"name":"f","description":"","inputSchema":{}}]}
Request codex_thread_request(std::string_view params);
// [{"type":"text","text":"hi"},{"type":"image","url":"..."}] as one user message; nothing when there is none.
void add_codex_input(Request& request, std::string_view input);

}  // namespace callgate::script
