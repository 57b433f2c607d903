// Errors as OpenAI and compatible servers write them, whatever their shape.
//
//   {"error":{"message":"Slow down.","type":"rate_limit_error","param":null,"code":"rate_limit_exceeded"}}
//   {"error":"out of memory"}     {"object":"error","message":"...","code":400}     {"detail":"Not Found"}
//   {"code":"InternalError.Algo","message":"..."}     {"base_resp":{"status_code":1000,"status_msg":"..."}}
//   {"error_code":18,"error_msg":"..."}
#pragma once

#include <string_view>

#include "callgate/error.h"

namespace callgate::upstream {

// `json` is an error object, a string, or an envelope around one; `status` is 0 inside a 200 answer.
// Total: any other text is quoted in the message.
Error decode_openai_error(int status, std::string_view json);

// What the caller of callgate can do about an upstream's status.
ErrorCode code_of_status(int status);

}  // namespace callgate::upstream
