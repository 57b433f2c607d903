// A Messages request as a canonical one, read leniently: enough for rules to match and for the model to answer. Fields
// that Chat Completions does not have stay in `extra` under their own names.
//
//   {"model":"m","max_tokens":100,"system":"Be brief.","messages":[{"role":"user","content":[
//    {"type":"tool_result","tool_use_id":"toolu_1","content":"42"},{"type":"text","text":"And now?"}]}]}
#pragma once

#include <string_view>

#include "callgate/request.h"
#include "callgate/result.h"

namespace callgate::script {

// Fails when the body is no JSON object.
Result<Request> decode_anthropic_request(std::string_view body);

}  // namespace callgate::script
