// The demo model: sensible answers without a script. With tools it calls one, with a tool's result it quotes it, and
// otherwise it talks about callgate.
//
//   user "What is the weather in Paris?", tools [get_weather(city)]
//     -> "Let me ask get_weather."  call get_weather {"city":"Paris"}
//   tool "18 degrees"
//     -> "get_weather says: 18 degrees"
#pragma once

#include <vector>

#include "callgate/request.h"
#include "script/part.h"

namespace callgate::script {

// What the demo model says in its next turn: reasoning when the user writes "think", text, calls. The same request
// gives the same parts.
//  - tools declared and allowed: calls the first (or the one that tool_choice names) with arguments made from its
//    schema; "both" in the user's text makes two calls, of the first two tools, unless parallel calls are forbidden
//  - the last thing that happened is a tool result: a text that quotes every result since the calls
//  - else: a text that quotes the user
std::vector<Part> demo_turn(const Request& request);

}  // namespace callgate::script
