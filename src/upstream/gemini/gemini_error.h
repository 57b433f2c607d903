// Errors of the Gemini API, as a body, as a frame, or as the only element of an array.
//
//   {"error":{"code":429,"message":"Quota exceeded.","status":"RESOURCE_EXHAUSTED","details":[
//    {"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"28s"}]}}
#pragma once

#include <string_view>

#include "callgate/error.h"

namespace callgate::upstream {

// `status` is 0 inside a 200 answer. RetryInfo becomes `retry_after`.
Error decode_gemini_error(int status, std::string_view json);

}  // namespace callgate::upstream
