// Makes a conversation fit a model's context, on its way to the model: what the loop and its memory keep stays whole.
//
//   {"role":"tool","tool_call_id":"c1","content":"[84211 bytes of this result were left out to save space. ...]"}
//
// Results of tools go first, the oldest before the others. If that is not enough, whole rounds become one line each, which
// names their calls. The last round, system prompts, and what people said stay.
#pragma once

#include <cstdint>

#include "callgate/error.h"
#include "callgate/request.h"

namespace callgate::loop {

// Until the request has about so many tokens, or nothing more can go. False: nothing went.
bool compact(Request& request, std::int64_t tokens);

// An upstream refused a request since it is longer than the model's context.
bool is_too_long_for_model(const Error& error);

}  // namespace callgate::loop
