// A GenerateContent request as a canonical one, read leniently: enough for rules to match and for the model to answer.
// Fields that Chat Completions does not have stay in `extra` under their own names.
//
//   POST /v1beta/models/m:streamGenerateContent?alt=sse
//   {"contents":[{"role":"user","parts":[{"text":"Hi"}]}],"generationConfig":{"temperature":1}}
#pragma once

#include <string_view>

#include "callgate/request.h"
#include "callgate/result.h"

namespace callgate::script {

// Whether a POST to this path asks for content.
bool is_gemini_path(std::string_view path);

// A stream that is asked for without alt=sse gets the stream option kArrayOption. Fails when the body is no JSON object.
Result<Request> decode_gemini_request(std::string_view target, std::string_view body);

}  // namespace callgate::script
