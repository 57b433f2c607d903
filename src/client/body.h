// What every protocol asks of a request's body first: that it is a JSON object.
#pragma once

#include <string_view>

#include "callgate/result.h"

namespace callgate::client {

// Fails with the place of the fault in the text. A reader that comes after it meets no syntax fault.
Result<void> check_body(std::string_view body);

}  // namespace callgate::client
