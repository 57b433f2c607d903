// What an assistant says in the openai_chat wire format, streamed and whole:
//   {"content":"Hi"}
//   {"role":"assistant","content":"Hi","refusal":null,"tool_calls":[...]}
#pragma once

#include <string>

#include "callgate/event.h"
#include "chat/event_log.h"
#include "script/fault.h"

namespace callgate::script {

// REQUIRES: `event` is a TextDelta, ReasoningDelta or RefusalDelta.
std::string said_delta(const Event& event, const Faults& faults);

// `legacy`: the first call goes into the deprecated `function_call`.
void append_message(std::string& out, const EventLog& log, bool legacy, const Faults& faults);

}  // namespace callgate::script
