// Whether the members of a request still say what its body says. A protocol marks the request that it decoded; rules and loops
// change messages and tools later, and an upstream that speaks the same may pass on from the body only what they left alone.
#pragma once

#include "callgate/request.h"

namespace callgate {

// Sets the marks of `request.client`. REQUIRES: messages and tools are as the body says.
void mark_body(Request& request);

// The first `request.client.messages` messages are those of the body; more may follow.
bool keeps_messages(const Request& request);
// Likewise for the tools.
bool keeps_tools(const Request& request);

}  // namespace callgate
