// The names of error codes in logs, the request log and captures.
#pragma once

#include <optional>
#include <string_view>

#include "callgate/error.h"

namespace callgate {

std::string_view to_string(ErrorCode code);
std::optional<ErrorCode> to_error_code(std::string_view word);

}  // namespace callgate
