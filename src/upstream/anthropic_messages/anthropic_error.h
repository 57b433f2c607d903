// Errors as the Messages API writes them, before and inside a stream.
//
//   {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_011"}
#pragma once

#include <string_view>

#include "callgate/error.h"

namespace callgate::upstream {

// `json` is the envelope or the error in it; `status` is 0 inside a 200 answer. Total, as decode_openai_error().
Error decode_anthropic_error(int status, std::string_view json);

}  // namespace callgate::upstream
