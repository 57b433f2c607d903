// A failure that Codex reports -> Error. The status is in `codexErrorInfo`, a word or an object; older versions have it
// in the message alone.
//
//   {"message":"unexpected status 401 Unauthorized: ...","codexErrorInfo":{"httpConnectionFailed":{"httpStatusCode":401}}}
//   {"message":"exceeded retry limit, last status: 429 Too Many Requests"}
#pragma once

#include <string_view>

#include "callgate/error.h"

namespace callgate::upstream {

// An error object, or an object with one as `error`.
Error decode_codex_error(std::string_view json);

}  // namespace callgate::upstream
