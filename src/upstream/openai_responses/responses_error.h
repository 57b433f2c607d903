// Errors of the Responses API: as a body, inside a failed response, and as an event in both of its forms.
//
//   {"type":"error","code":"rate_limit_exceeded","message":"Slow down.","param":null,"sequence_number":3}
//   {"type":"error","error":{"type":"tokens","code":"rate_limit_exceeded","message":"Slow down.","param":null}}
#pragma once

#include <string_view>

#include "callgate/error.h"

namespace callgate::upstream {

// Total. `status` is 0 inside a 200 answer.
Error decode_responses_error(int status, std::string_view json);

}  // namespace callgate::upstream
