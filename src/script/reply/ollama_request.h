// A request to /api/chat as a canonical one, read leniently: enough for rules to match and for the model to answer. Members
// of `options` have the names that Chat Completions gives them.
//
//   {"model":"m","messages":[{"role":"user","content":"Hi","images":["iVBORw=="]}],"options":{"num_predict":100}}
#pragma once

#include <string>
#include <string_view>

#include "callgate/request.h"
#include "callgate/result.h"

namespace callgate::script {

// Fails when the body is no JSON object.
Result<Request> decode_ollama_request(std::string_view body);

// `model` of a body, or `name`, which older clients send.
std::string ollama_model_named(std::string_view body);

}  // namespace callgate::script
