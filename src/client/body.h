// What every protocol asks of a request's body first: that it is a JSON object.
#pragma once

#include <string_view>

#include "callgate/result.h"
#include "json/reader.h"

namespace callgate::client {

// A body that is not JSON: says where it goes wrong, by byte and by line and column.
Error syntax_error(std::string_view body, const json::ReadError& fault);

// Fails with the place of the fault in the text. A reader that comes after it meets no syntax fault.
Result<void> check_body(std::string_view body);

}  // namespace callgate::client
