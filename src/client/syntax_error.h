// A body that is not JSON, as an error that says where.
#pragma once

#include <string_view>

#include "callgate/error.h"
#include "json/reader.h"

namespace callgate::client {

Error syntax_error(std::string_view body, const json::ReadError& fault);

}  // namespace callgate::client
